// The passes of the convolution with few channels, one set per instruction set, and the memory they work on.
// Pure functions on the caller's memory; thread-safe.
//
// oneDNN's vectors are always channels. Here lanes run along the width of the image (ColumnLanes), are output channels
// (ChannelLanes) or a row of the kernel (PatchLanes), whichever leaves fewer lanes unused. All passes process one
// sample at a time, with its rows copied to zero-padded scratch. Each result of a correlation is one chain over
// channels, kernel rows and kernel columns. Each result of a gradient is one chain over samples, rows and columns; with
// ColumnLanes there is a chain per lane, in steps of sixteen columns. All chains use fma, so the bits depend neither on
// the instruction set nor on blocking.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::narrow {

// Images of one sample: element (channel, y, x) at data + channel * plane + y * row + x.
template <class T>
struct Images {
  T* data = nullptr;
  std::int64_t plane = 0, row = 0;
};

struct Sizes {
  std::int64_t in_channels = 0, out_channels = 0;
  std::int64_t kernel_height = 0, kernel_width = 0;
  std::int64_t height = 0, width = 0;  // of the output

  std::int64_t out_vectors() const { return (out_channels + base::kLanes - 1) / base::kLanes; }
};

// The most even split of `count` into parts of at most `most`: the size of the next part.
inline std::int64_t share(std::int64_t count, std::int64_t most) {
  const std::int64_t parts = (count + most - 1) / most;
  return (count + parts - 1) / parts;
}

// REQUIRES: rows of `in` have width + kernel_width - 1 values, rounded up to whole vectors; the passes may read past
// the image.
struct ColumnLanes {
  // out(o, y, x) = bias(o) + sum of in(i, y + ky, x + kx) * weights(i, ky, kx, o), then max(., 0) if `relu`. Weights
  // lie as [i][ky][kx][o]; bias may be null.
  void (*correlate)(const Sizes&, Images<const float> in, const float* weights, const float* bias, bool relu,
                    Images<float> out);
  // lanes(o, i, ky, kx, x % 16) += in(i, y + ky, x + kx) * diff(o, y, x). Rows of `diff` are zero up to whole vectors.
  void (*gradient)(const Sizes&, Images<const float> in, Images<const float> diff, float* lanes);
  // lanes(o, x % 16) += diff(o, y, x).
  void (*bias_gradient)(const Sizes&, Images<const float> diff, float* lanes);
};

// `out` and `diff` are vectors of positions here, [o / 16][y][x][o % 16]; weights, bias and their gradients have whole
// vectors of o, [i][ky][kx][o].
struct ChannelLanes {
  void (*correlate)(const Sizes&, Images<const float> in, const float* weights, const float* bias, bool relu,
                    float* out);
  // sums(i, ky, kx, o) += in(i, y + ky, x + kx) * diff(o, y, x).
  void (*gradient)(const Sizes&, Images<const float> in, const float* diff, float* sums);
  void (*bias_gradient)(const Sizes&, const float* diff, float* sums);
};

// A patch row: the kernel columns of all input channels, [kx][i], in whole vectors. It is the part of a channels-last
// input row that one output position reads.
inline std::int64_t patch_vectors(const Sizes& sizes) {
  return (sizes.kernel_width * sizes.in_channels + base::kLanes - 1) / base::kLanes;
}
// The floats of a patch row with zeros on both sides.
inline std::int64_t patch_floats(const Sizes& sizes) { return (patch_vectors(sizes) + 2) * base::kLanes; }

struct PatchLanes {
  // row(x + kx, i) = sum of diff(o, y - ky, x) * weights(ky, o, kx, i): a row of the padded input's gradient. Each
  // position's patch row is one chain over kernel rows and output channels; patches are added from left to right.
  // `diff` are dense images. `patches` is scratch for a row of positions. REQUIRES: it is zero before the first call.
  void (*input_gradient)(const Sizes&, const float* diff, const float* weights, std::int64_t y, float* patches,
                         float* row);
};

struct Passes {
  ColumnLanes columns;
  ChannelLanes channels;
  PatchLanes patches;
};

const Passes& passes(base::Isa isa);

// The single sets. REQUIRES: a CPU with that instruction set.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::narrow
