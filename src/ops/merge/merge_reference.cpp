#include "ops/merge/merge_reference.h"

namespace trireme::ops {
namespace {

// Calls f(input, position in the input, position in the output) for every element.
template <class F>
void for_each_piece(const Reference& r, const F& f) {
  std::int64_t total = 0;
  for (const Shape& shape : r.shapes) total += shape.count_from(1);
  std::int64_t before = 0;
  for (std::size_t k = 0; k < r.shapes.size(); ++k) {
    const std::int64_t own = r.shapes[k].count_from(1);
    for (std::int64_t n = 0; n < r.shapes[k][0]; ++n)
      for (std::int64_t i = 0; i < own; ++i)
        f(k, static_cast<std::size_t>(n * own + i), static_cast<std::size_t>(n * total + before + i));
    before += own;
  }
}

}  // namespace

void add_reference_forward(Reference& r) {
  for (std::size_t i = 0; i < r.dst.size(); ++i) r.dst[i] = r.src[0][i] + r.src[1][i];
}

void add_reference_backward(Reference& r) {
  for (auto& diff_src : r.diff_src)
    if (!diff_src.empty()) diff_src = r.diff_dst;
}

void concat_reference_forward(Reference& r) {
  for_each_piece(r, [&](std::size_t k, std::size_t from, std::size_t to) { r.dst[to] = r.src[k][from]; });
}

void concat_reference_backward(Reference& r) {
  for_each_piece(r, [&](std::size_t k, std::size_t from, std::size_t to) {
    if (!r.diff_src[k].empty()) r.diff_src[k][from] = r.diff_dst[to];
  });
}

}  // namespace trireme::ops
