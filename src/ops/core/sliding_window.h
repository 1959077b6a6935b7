// SlidingWindow: the sizes of a convolution's or pool's windows in one or two dimensions; a missing height counts as 1.
#pragma once

#include <vector>

#include "tensor/shape.h"

namespace trireme::ops {

struct SlidingWindow {
  std::int64_t kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w;
  std::int64_t in_h, in_w, out_h, out_w;

  // Options is ConvOptions or PoolOptions with stride and padding filled in.
  template <class Options>
  SlidingWindow(const Options& o, const tensor::Shape& in, const tensor::Shape& out) {
    const bool flat = o.kernel.size() == 1;
    const auto height = [&](const std::vector<std::int64_t>& v, std::int64_t otherwise) {
      return flat ? otherwise : v[0];
    };
    kernel_h = height(o.kernel, 1);
    kernel_w = o.kernel.back();
    stride_h = height(o.stride, 1);
    stride_w = o.stride.back();
    padding_h = height(o.padding, 0);
    padding_w = o.padding.back();
    in_h = flat ? 1 : in[2];
    in_w = in[in.rank() - 1];
    out_h = flat ? 1 : out[2];
    out_w = out[out.rank() - 1];
  }
};

}  // namespace trireme::ops
