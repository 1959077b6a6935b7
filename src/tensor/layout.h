// Layout: where each element of a tensor lies in memory, and the type of the elements.
// A value type; its functions are pure.
//
// Dimensions may be blocked. `inner` lists the blocks, outermost first; each names a dimension and a block size.
// Strides are those of the outer, per-block index. nChw16c has strides over (n, C/16, h, w) and one inner block (1,
// 16). Blocked dimensions are padded to a multiple of their blocks; padding holds zeros. Plain row-major has no inner
// blocks.
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
  // N, spatial, channels innermost: nhwc. If `row` exceeds the number of channels, each row of channels is followed by
  // unused room up to `row` elements.
  static Layout channels_last(const Shape& shape, std::int64_t row = 0, ElementType type = ElementType::float32);

  // Elements of memory, including padding and unused room.
  std::int64_t elements() const;
  // The same in bytes.
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * element_bytes(type); }
  bool is_plain() const;
  bool has_padding() const { return !(shape == padded); }
  // The block size if activations lie as [N][C / block][spatial][block]: 1 (plain), 8 or 16 (blocked) or C (channels
  // last). 0 for any other layout. Rank 2 is plain: block 1.
  std::int64_t channel_block() const;
  // The distance in elements between rows of channels, if channels lie last, with or without unused room; else 0.
  std::int64_t channel_row() const;
  // The memory position of an element.
  std::int64_t offset(std::span<const std::int64_t> index) const;
  // "plain", "blocked:1x16"; the type follows where it is not float32.
  std::string text() const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

// True when both layouts put every element of the same type at the same position. Strides of dimensions of size 1 do
// not count.
bool same_memory(const Layout& a, const Layout& b);

// Copies between a layout and plain row-major order. Slow and simple: for checkpoints, hashes and tests.
// REQUIRES: the layout's type is float32.
void to_plain(const Layout& layout, const float* src, float* dst);
void from_plain(const Layout& layout, const float* src, float* dst);  // zeroes the padding

}  // namespace trireme::tensor
