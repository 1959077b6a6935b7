#include "ops/pool/adaptive_pool_reference.h"

#include <algorithm>

namespace trireme::ops {
namespace {

// Calls f(output position, input position, weight of the input in the output).
template <class F>
void for_each_pair(const Shape& in, const Shape& out, const F& f) {
  const bool flat = in.rank() == 3;
  const std::int64_t ih = flat ? 1 : in[2], iw = in[in.rank() - 1], oh = flat ? 1 : out[2], ow = out[out.rank() - 1];
  for (std::int64_t plane = 0; plane < in[0] * in[1]; ++plane)
    for (std::int64_t y = 0; y < oh; ++y)
      for (std::int64_t x = 0; x < ow; ++x) {
        const AdaptiveWindow rows(y, ih, oh), columns(x, iw, ow);
        for (std::int64_t h = rows.begin; h < rows.end; ++h)
          for (std::int64_t w = columns.begin; w < columns.end; ++w)
            f(static_cast<std::size_t>((plane * oh + y) * ow + x), static_cast<std::size_t>((plane * ih + h) * iw + w),
              1.0 / static_cast<double>(rows.size() * columns.size()));
      }
}

}  // namespace

void adaptive_pool_reference_forward(const Shape& out, Reference& r) {
  std::fill(r.dst.begin(), r.dst.end(), 0.0);
  for_each_pair(r.shapes[0], out,
                [&](std::size_t d, std::size_t s, double weight) { r.dst[d] += weight * r.src[0][s]; });
}

void adaptive_pool_reference_backward(const Shape& out, Reference& r) {
  if (r.diff_src[0].empty()) return;
  std::fill(r.diff_src[0].begin(), r.diff_src[0].end(), 0.0);
  for_each_pair(r.shapes[0], out,
                [&](std::size_t d, std::size_t s, double weight) { r.diff_src[0][s] += weight * r.diff_dst[d]; });
}

}  // namespace trireme::ops
