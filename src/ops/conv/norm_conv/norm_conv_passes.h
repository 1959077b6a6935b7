// The passes of batch norm with ReLU fused with the 1x1 convolution after it, one set per instruction set.
// Pure functions on the caller's memory; thread-safe.
//
// Images are channels-last: rows of channels. A tile of rows is normalised into a buffer that stays in cache and
// multiplied from there, so the normalised image is never written to memory. Backward recomputes it in the same way,
// and sums the gradient of the norm while the rows are in cache.
//
// Orders are fixed: products are summed over channels, or over rows, one after the other with fma; sums per channel run
// in floats over a tile, then in doubles. The bits do not depend on the instruction set.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::normed {

inline constexpr std::int64_t kTile = 64;  // rows

// Rows of channels: element (r, c) at data + r * row + c.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t row = 0;
};

// The same in blocks of channels: element (r, c) at data + r * row + c / block * plane + c % block. REQUIRES: whole
// blocks, or one block of all channels.
template <class T>
struct Blocks {
  T* data = nullptr;
  std::int64_t row = 0, block = 0, plane = 0;
  std::int64_t at(std::int64_t c) const { return c / block * plane + c % block; }
};

struct Sizes {
  std::int64_t rows = 0;
  std::int64_t in = 0, out = 0;  // channels
  // The floats of a per-channel array or of a row of the tile, rounded up to whole vectors.
  std::int64_t padded_in() const { return (in + base::kLanes - 1) / base::kLanes * base::kLanes; }
  std::int64_t tile_floats() const { return kTile * (padded_in() + out); }
};

// Per input channel, padded with zeros to padded_in(): y = max(x * a + b, 0).
struct Norm {
  const float *mean, *a, *b;
};

struct Passes {
  std::int64_t block = 0;  // the channel block that other kernels for this instruction set prefer
  // first += x - origin and second += its square, per channel.
  void (*statistics)(const Sizes&, Rows<const float> x, const float* origin, double* first, double* second);
  // dst(r, o) = sum over i of y(r, i) * weights(i, o). `tile`: tile_floats().
  void (*forward)(const Sizes&, Rows<const float> x, Norm norm, const float* weights, Blocks<float> dst, float* tile);
  // Writes the gradient of x * a + b to diff_y. Adds its sums per channel to `first`, those of diff_y * (x - mean) to
  // `second`, and the weights' gradient to diff_weights(i, o). weights(o, i) are transposed compared with forward.
  void (*backward)(const Sizes&, Rows<const float> x, Norm norm, const float* weights, Blocks<const float> diff_dst,
                   Rows<float> diff_y, double* first, double* second, float* diff_weights, float* tile);
  // diff_x = a * diff_y + slope * (x - mean) + level; with `add` it is added to diff_x.
  void (*make_diff_x)(const Sizes&, Rows<const float> x, Rows<const float> diff_y, Norm norm, const float* slope,
                      const float* level, bool add, Rows<float> diff_x);
};

const Passes& passes(base::Isa isa);

// The single sets. REQUIRES: a CPU with that instruction set.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::normed
