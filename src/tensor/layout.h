// Layout: where each element of a tensor lies in memory, and the type of the elements.
//
// Dimensions may be blocked: the inner blocks (outermost first) name a dimension and a block size, and the strides are
// those of the outer, per-block index. nChw16c is strides over (n, C/16, h, w) and one inner block (1, 16). Blocked
// dimensions are padded up to a multiple of their blocks; padding holds zeros. Plain row-major has no inner blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/element_type.h"
#include "tensor/shape.h"

namespace trireme::tensor {

struct InnerBlock {
  int dimension = 0;
  std::int64_t size = 1;
  friend bool operator==(const InnerBlock&, const InnerBlock&) = default;
};

struct Layout {
  Shape shape;
  Shape padded;                       // shape rounded up to the blocks
  std::vector<std::int64_t> strides;  // in elements, per outer index of each dimension
  std::vector<InnerBlock> inner;
  ElementType type = ElementType::float32;

  static Layout plain(const Shape& shape, ElementType type = ElementType::float32);
  // Channels (dimension 1) in blocks of `block`, blocks innermost: nChw16c for block 16 and rank 4.
  static Layout channels_blocked(const Shape& shape, std::int64_t block, ElementType type = ElementType::float32);
  // N, spatial, channels innermost: nhwc. With `row` above the channels, each row of channels has room behind it.
  static Layout channels_last(const Shape& shape, std::int64_t row = 0, ElementType type = ElementType::float32);

  // Elements of memory, padding and room included.
  std::int64_t elements() const;
  // Bytes of that memory.
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * element_bytes(type); }
  bool is_plain() const;
  bool has_padding() const { return !(shape == padded); }
  // Activations lie as [N][C / block][spatial][block] with block 1 (plain), 8 or 16 (blocked), or C (channels last);
  // this is that block, or 0 when the layout is of no such form. Rank 2 is plain: block 1.
  std::int64_t channel_block() const;
  // The distance of rows of channels when they lie last, with or without room behind them; else 0.
  std::int64_t channel_row() const;
  // The memory position of an element.
  std::int64_t offset(std::span<const std::int64_t> index) const;
  // "plain", "blocked:1x16"; the type follows where it is not float32.
  std::string text() const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

// True when both put every element of the same type at the same position (sizes of 1 make strides meaningless).
bool same_memory(const Layout& a, const Layout& b);

// Copies between a layout and plain row-major order. Slow and simple: for checkpoints, hashes and tests. REQUIRES: a
// layout of float32.
void to_plain(const Layout& layout, const float* src, float* dst);
void from_plain(const Layout& layout, const float* src, float* dst);  // zeroes the padding

}  // namespace trireme::tensor
