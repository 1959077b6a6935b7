// The passes of a batch norm with ReLU and the 1x1 convolution behind it as one, one set per instruction set.
//
// Images lie with their channels last, as rows of channels. A tile of rows is normalised into a buffer that stays in
// the nearest cache and multiplied from there: the normalised image is never written. Backward makes it again in the
// same way, and sums the gradient of the norm while the rows are near.
//
// Orders are fixed: products are summed over channels, or over rows, one after the other with fma; sums per channel run
// in floats over a tile, then in doubles. Bits do not depend on the instruction set. Pure functions on the caller's
// memory; any thread.
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

// The same in blocks of channels: element (r, c) at data + r * row + c / block * plane + c % block. Whole blocks, or
// one of all channels.
template <class T>
struct Blocks {
  T* data = nullptr;
  std::int64_t row = 0, block = 0, plane = 0;
  std::int64_t at(std::int64_t c) const { return c / block * plane + c % block; }
};

struct Sizes {
  std::int64_t rows = 0;
  std::int64_t in = 0, out = 0;  // channels
  // Floats of per-channel arrays and of a row of the tile: whole vectors.
  std::int64_t padded_in() const { return (in + base::kLanes - 1) / base::kLanes * base::kLanes; }
  std::int64_t tile_floats() const { return kTile * (padded_in() + out); }
};

// Per input channel, padded with zeros to padded_in(): y = max(x * a + b, 0).
struct Norm {
  const float *mean, *a, *b;
};

struct Passes {
  std::int64_t block = 0;  // of channels, in which other kernels for this instruction set like their input
  // first += x - origin and second += its square, per channel.
  void (*statistics)(const Sizes&, Rows<const float> x, const float* origin, double* first, double* second);
  // dst(r, o) = sum over i of y(r, i) * weights(i, o). `tile`: tile_floats().
  void (*forward)(const Sizes&, Rows<const float> x, Norm norm, const float* weights, Blocks<float> dst, float* tile);
  // The gradient that reaches x * a + b, into diff_y; its sums and those of diff_y * (x - mean) per channel; and the
  // weights' gradient, added to diff_weights(i, o). weights(o, i) are the transposed ones.
  void (*backward)(const Sizes&, Rows<const float> x, Norm norm, const float* weights, Blocks<const float> diff_dst,
                   Rows<float> diff_y, double* first, double* second, float* diff_weights, float* tile);
  // diff_x = a * diff_y + slope * (x - mean) + level, or added to what is there.
  void (*make_diff_x)(const Sizes&, Rows<const float> x, Rows<const float> diff_y, Norm norm, const float* slope,
                      const float* level, bool add, Rows<float> diff_x);
};

const Passes& passes(base::Isa isa);

// The sets by themselves: each may run only on a CPU that has it.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::normed
