#include "tensor/layout.h"

#include <algorithm>

#include "base/error.h"

namespace trireme::tensor {
namespace {

std::vector<std::int64_t> row_major(const Shape& shape) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()));
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride *= shape[i];
  }
  return strides;
}

// The memory position of an element is a sum over its indices: one table of positions per dimension, so that walking a
// whole tensor needs no division.
std::vector<std::vector<std::int64_t>> position_tables(const Layout& layout) {
  const int rank = layout.shape.rank();
  std::vector<std::vector<std::int64_t>> tables(static_cast<std::size_t>(rank));
  std::vector<std::int64_t> index(static_cast<std::size_t>(rank), 0);
  for (std::size_t d = 0; d < tables.size(); ++d) {
    for (index[d] = 0; index[d] < layout.shape[static_cast<int>(d)]; ++index[d])
      tables[d].push_back(layout.offset(index));
    index[d] = 0;
  }
  return tables;
}

// Calls f(plain position, memory position) for every element, in ascending order of plain positions.
template <class F>
void for_each_element(const Layout& layout, const F& f) {
  const int rank = layout.shape.rank();
  if (rank == 0) return f(0, 0);
  if (layout.shape.count() == 0) return;
  const auto tables = position_tables(layout);
  const auto& innermost = tables.back();
  std::vector<std::size_t> index(static_cast<std::size_t>(rank), 0);
  for (std::int64_t position = 0; position < layout.shape.count();) {
    std::int64_t row = 0;
    for (std::size_t d = 0; d + 1 < tables.size(); ++d) row += tables[d][index[d]];
    for (const std::int64_t column : innermost) f(position++, row + column);
    for (std::size_t d = tables.size() - 1; d-- > 0;) {
      if (++index[d] < tables[d].size()) break;
      index[d] = 0;
    }
  }
}

void check_float32(const Layout& layout) {
  base::check(layout.type == ElementType::float32, "a layout of {} is copied as {}", element_name(layout.type),
              element_name(ElementType::float32));
}

// The arrangement without the type, as in Layout::text().
std::string arrangement_text(const Layout& layout) {
  if (layout.is_plain()) return "plain";
  if (layout.inner.empty())
    return layout == Layout::channels_last(layout.shape, 0, layout.type) ? "channels-last" : "strided";
  std::string all = "blocked";
  for (const InnerBlock& block : layout.inner)
    all += ":" + std::to_string(block.dimension) + "x" + std::to_string(block.size);
  return all;
}

}  // namespace

Layout Layout::plain(const Shape& shape, ElementType type) { return {shape, shape, row_major(shape), {}, type}; }

Layout Layout::channels_blocked(const Shape& shape, std::int64_t block, ElementType type) {
  base::check(shape.rank() >= 2, "a blocked layout needs channels, the shape is {}", shape.text());
  if (block == 1) return plain(shape, type);
  Layout layout{shape, shape, {}, {{1, block}}, type};
  layout.padded[1] = (shape[1] + block - 1) / block * block;
  Shape outer = layout.padded;
  outer[1] /= block;
  layout.strides = row_major(outer);
  for (auto& stride : layout.strides) stride *= block;
  return layout;
}

Layout Layout::channels_last(const Shape& shape, std::int64_t row, ElementType type) {
  if (shape.rank() <= 2 && row <= shape[1]) return plain(shape, type);
  Layout layout{shape, shape, std::vector<std::int64_t>(static_cast<std::size_t>(shape.rank())), {}, type};
  layout.strides[1] = 1;
  std::int64_t stride = std::max(row, shape[1]);
  for (int d = shape.rank() - 1; d >= 2; --d) {
    layout.strides[static_cast<std::size_t>(d)] = stride;
    stride *= shape[d];
  }
  layout.strides[0] = stride;
  return layout;
}

std::int64_t Layout::elements() const {
  const std::int64_t dense = padded.count();
  return shape.rank() > 0 && inner.empty() ? std::max(dense, shape[0] * strides[0]) : dense;
}

bool Layout::is_plain() const { return inner.empty() && shape == padded && strides == row_major(shape); }

std::int64_t Layout::channel_block() const {
  if (is_plain()) return 1;
  if (inner.empty() && *this == channels_last(shape, 0, type)) return shape[1];
  if (inner.size() == 1 && *this == channels_blocked(shape, inner[0].size, type)) return inner[0].size;
  return 0;
}

std::int64_t Layout::channel_row() const {
  if (!inner.empty() || shape.rank() < 3 || shape.count() == 0) return 0;
  const std::int64_t row = strides[0] / shape.count_from(2);
  return *this == channels_last(shape, row, type) ? row : 0;
}

std::int64_t Layout::offset(std::span<const std::int64_t> index) const {
  // Peel the inner blocks from the innermost out: each takes the remainder of its dimension's index.
  std::int64_t position = 0;
  std::int64_t inner_stride = 1;
  std::int64_t rest[8];
  std::copy(index.begin(), index.end(), rest);
  for (std::size_t b = inner.size(); b-- > 0;) {
    std::int64_t& i = rest[inner[b].dimension];
    position += i % inner[b].size * inner_stride;
    i /= inner[b].size;
    inner_stride *= inner[b].size;
  }
  for (std::size_t d = 0; d < index.size(); ++d) position += rest[d] * strides[d];
  return position;
}

std::string Layout::text() const {
  const std::string arrangement = arrangement_text(*this);
  // float32 is left out: kernel tables and fingerprints hold these texts.
  return type == ElementType::float32 ? arrangement : arrangement + " " + std::string(element_name(type));
}

namespace {

// An equivalent layout: strides without meaning (outer count 1) are 0, and a single inner block that continues its
// dimension is folded away.
Layout normalized(Layout layout) {
  if (layout.inner.size() == 1 && !layout.has_padding()) {
    const auto d = static_cast<std::size_t>(layout.inner[0].dimension);
    if (layout.strides[d] == layout.inner[0].size || layout.padded[layout.inner[0].dimension] == layout.inner[0].size) {
      layout.strides[d] = 1;
      layout.inner.clear();
    }
  }
  for (int d = 0; d < layout.shape.rank(); ++d) {
    std::int64_t block = 1;
    for (const InnerBlock& inner : layout.inner)
      if (inner.dimension == d) block *= inner.size;
    if (layout.padded[d] == block) layout.strides[static_cast<std::size_t>(d)] = 0;
  }
  return layout;
}

}  // namespace

bool same_memory(const Layout& a, const Layout& b) { return a == b || normalized(a) == normalized(b); }

void to_plain(const Layout& layout, const float* src, float* dst) {
  check_float32(layout);
  if (layout.is_plain()) {
    std::copy_n(src, layout.shape.count(), dst);
    return;
  }
  for_each_element(layout, [&](std::int64_t plain, std::int64_t memory) { dst[plain] = src[memory]; });
}

void from_plain(const Layout& layout, const float* src, float* dst) {
  check_float32(layout);
  if (layout.is_plain()) {
    std::copy_n(src, layout.shape.count(), dst);
    return;
  }
  std::fill_n(dst, layout.elements(), 0.0f);
  for_each_element(layout, [&](std::int64_t plain, std::int64_t memory) { dst[memory] = src[plain]; });
}

}  // namespace trireme::tensor
