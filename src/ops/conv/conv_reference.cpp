#include "ops/conv/conv_reference.h"

#include <algorithm>

#include "base/index.h"
#include "ops/core/sliding_window.h"

namespace trireme::ops {
namespace {

// Calls f(dst position, src position, weight position) for every product of the convolution.
template <class F>
void for_each_product(const ConvOptions& o, const Shape& in, const Shape& out, const F& f) {
  const SlidingWindow w(o, in, out);
  const std::int64_t group_in = in[1] / o.groups, group_out = out[1] / o.groups;
  for (std::int64_t n = 0; n < out[0]; ++n)
    for (std::int64_t c = 0; c < out[1]; ++c)
      for (std::int64_t y = 0; y < w.out_h; ++y)
        for (std::int64_t x = 0; x < w.out_w; ++x)
          for (std::int64_t i = 0; i < group_in; ++i)
            for (std::int64_t ky = 0; ky < w.kernel_h; ++ky)
              for (std::int64_t kx = 0; kx < w.kernel_w; ++kx) {
                const std::int64_t sy = y * w.stride_h - w.padding_h + ky, sx = x * w.stride_w - w.padding_w + kx;
                if (sy < 0 || sy >= w.in_h || sx < 0 || sx >= w.in_w) continue;
                const std::int64_t channel = c / group_out * group_in + i;
                f(((n * out[1] + c) * w.out_h + y) * w.out_w + x, ((n * in[1] + channel) * w.in_h + sy) * w.in_w + sx,
                  ((c * group_in + i) * w.kernel_h + ky) * w.kernel_w + kx);
              }
}

using base::at;

}  // namespace

void conv_reference_forward(const ConvOptions& o, const Shape& out, Reference& r) {
  const std::int64_t spatial = out.count_from(2);
  for (std::int64_t p = 0; p < out.count(); ++p) r.dst[at(p)] = o.bias ? r.weights[1][at(p / spatial % out[1])] : 0.0;
  for_each_product(o, r.shapes[0], out, [&](std::int64_t d, std::int64_t s, std::int64_t w) {
    r.dst[at(d)] += r.src[0][at(s)] * r.weights[0][at(w)];
  });
  if (o.relu)
    for (double& v : r.dst) v = std::max(v, 0.0);
}

void conv_reference_backward(const ConvOptions& o, const Shape& out, Reference& r) {
  if (o.relu)
    for (std::size_t i = 0; i < r.dst.size(); ++i)
      if (r.dst[i] <= 0) r.diff_dst[i] = 0;
  std::fill(r.diff_src[0].begin(), r.diff_src[0].end(), 0.0);
  std::fill(r.diff_weights[0].begin(), r.diff_weights[0].end(), 0.0);
  for_each_product(o, r.shapes[0], out, [&](std::int64_t d, std::int64_t s, std::int64_t w) {
    r.diff_src[0][at(s)] += r.diff_dst[at(d)] * r.weights[0][at(w)];
    r.diff_weights[0][at(w)] += r.diff_dst[at(d)] * r.src[0][at(s)];
  });
  if (!o.bias) return;
  std::fill(r.diff_weights[1].begin(), r.diff_weights[1].end(), 0.0);
  const std::int64_t spatial = out.count_from(2);
  for (std::int64_t p = 0; p < out.count(); ++p) r.diff_weights[1][at(p / spatial % out[1])] += r.diff_dst[at(p)];
}

}  // namespace trireme::ops
