#include "ops/pool/pool_reference.h"

#include <algorithm>
#include <vector>

#include "base/index.h"
#include "ops/core/sliding_window.h"

namespace trireme::ops {
namespace {

// Calls f(dst position, src positions of its window inside the input, divisor of an average).
template <class F>
void for_each_window(const PoolOptions& o, const Shape& in, const Shape& out, const F& f) {
  const SlidingWindow w(o, in, out);
  std::vector<std::int64_t> window;
  for (std::int64_t plane = 0; plane < out[0] * out[1]; ++plane)
    for (std::int64_t y = 0; y < w.out_h; ++y)
      for (std::int64_t x = 0; x < w.out_w; ++x) {
        window.clear();
        const std::int64_t top = y * w.stride_h - w.padding_h, left = x * w.stride_w - w.padding_w;
        for (std::int64_t sy = top; sy < top + w.kernel_h; ++sy)
          for (std::int64_t sx = left; sx < left + w.kernel_w; ++sx)
            if (sy >= 0 && sy < w.in_h && sx >= 0 && sx < w.in_w) window.push_back((plane * w.in_h + sy) * w.in_w + sx);
        f((plane * w.out_h + y) * w.out_w + x, window,
          o.count_padding ? w.kernel_h * w.kernel_w : static_cast<std::int64_t>(window.size()));
      }
}

using base::at;

std::int64_t place_of_maximum(const std::vector<double>& src, const std::vector<std::int64_t>& window) {
  std::int64_t best = window[0];
  for (const std::int64_t p : window)
    if (src[at(p)] > src[at(best)]) best = p;
  return best;
}

}  // namespace

void pool_reference_forward(PoolKind kind, const PoolOptions& o, const Shape& out, Reference& r) {
  for_each_window(o, r.shapes[0], out,
                  [&](std::int64_t d, const std::vector<std::int64_t>& window, std::int64_t divisor) {
                    if (kind == PoolKind::max) {
                      r.dst[at(d)] = r.src[0][at(place_of_maximum(r.src[0], window))];
                      return;
                    }
                    double sum = 0;
                    for (const std::int64_t p : window) sum += r.src[0][at(p)];
                    r.dst[at(d)] = sum / static_cast<double>(divisor);
                  });
  if (o.relu)
    for (double& v : r.dst) v = std::max(v, 0.0);
}

void pool_reference_backward(PoolKind kind, const PoolOptions& o, const Shape& out, Reference& r) {
  if (o.relu)
    for (std::size_t i = 0; i < r.dst.size(); ++i)
      if (r.dst[i] <= 0) r.diff_dst[i] = 0;
  std::fill(r.diff_src[0].begin(), r.diff_src[0].end(), 0.0);
  for_each_window(o, r.shapes[0], out,
                  [&](std::int64_t d, const std::vector<std::int64_t>& window, std::int64_t divisor) {
                    if (kind == PoolKind::max) {
                      r.diff_src[0][at(place_of_maximum(r.src[0], window))] += r.diff_dst[at(d)];
                      return;
                    }
                    for (const std::int64_t p : window)
                      r.diff_src[0][at(p)] += r.diff_dst[at(d)] / static_cast<double>(divisor);
                  });
}

}  // namespace trireme::ops
