// The passes of the convolution with few output channels, one set per instruction set, and the memory they work on.
//
// Lanes run along the width of the image, so that no lane is lost on channels that do not exist. Both passes see one
// sample at a time, its rows copied to zero-padded scratch, of which they may read whole vectors past a row's end. Each
// sum has one order: over channels, kernel rows and kernel columns in `correlate`; in the gradients over samples, rows
// and columns in steps of sixteen, each lane by itself. All with fma, so bits do not depend on the instruction set
// or on blocking. Pure functions on the caller's memory; any thread.
#pragma once

#include <cstdint>

#include "base/simd.h"

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
};

struct Passes {
  // out(o, y, x) = bias(o) + sum of in(i, y + ky, x + kx) * weights(i, ky, kx, o), then max(., 0) if asked. Weights lie
  // as [i][ky][kx][o]; bias may be null. Rows of `in` have whole vectors of width + kernel_width - 1 values.
  void (*correlate)(const Sizes&, Images<const float> in, const float* weights, const float* bias, bool relu,
                    Images<float> out);
  // lanes(o, i, ky, kx, x % 16) += in(i, y + ky, x + kx) * diff(o, y, x). Rows of `diff` are zero up to whole vectors.
  void (*correlate_gradient)(const Sizes&, Images<const float> in, Images<const float> diff, float* lanes);
  // lanes(o, x % 16) += diff(o, y, x).
  void (*bias_gradient)(const Sizes&, Images<const float> diff, float* lanes);
};

const Passes& passes(base::Isa isa);

// The sets by themselves: each may run only on a CPU that has it.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::narrow
