#include "ops/pool_reference.h"

#include <algorithm>
#include <vector>

namespace trireme::ops {
namespace {

// Calls f(dst position, src positions of its window inside the input, divisor of an average).
template <class F>
void for_each_window(const PoolOptions& o, const Shape& in, const Shape& out, const F& f) {
  const bool flat = o.kernel.size() == 1;
  const auto pick = [&](const std::vector<std::int64_t>& v, int d, std::int64_t otherwise) {
    return flat ? (d == 0 ? otherwise : v[0]) : v[static_cast<std::size_t>(d)];
  };
  const std::int64_t kh = pick(o.kernel, 0, 1), kw = pick(o.kernel, 1, 1);
  const std::int64_t sh = pick(o.stride, 0, 1), sw = pick(o.stride, 1, 1);
  const std::int64_t ph = pick(o.padding, 0, 0), pw = pick(o.padding, 1, 0);
  const std::int64_t ih = flat ? 1 : in[2], iw = in[in.rank() - 1];
  const std::int64_t oh = flat ? 1 : out[2], ow = out[out.rank() - 1];
  std::vector<std::int64_t> window;
  for (std::int64_t plane = 0; plane < out[0] * out[1]; ++plane)
    for (std::int64_t y = 0; y < oh; ++y)
      for (std::int64_t x = 0; x < ow; ++x) {
        window.clear();
        for (std::int64_t sy = y * sh - ph; sy < y * sh - ph + kh; ++sy)
          for (std::int64_t sx = x * sw - pw; sx < x * sw - pw + kw; ++sx)
            if (sy >= 0 && sy < ih && sx >= 0 && sx < iw) window.push_back((plane * ih + sy) * iw + sx);
        f((plane * oh + y) * ow + x, window, o.count_padding ? kh * kw : static_cast<std::int64_t>(window.size()));
      }
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

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
}

void pool_reference_backward(PoolKind kind, const PoolOptions& o, const Shape& out, Reference& r) {
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
