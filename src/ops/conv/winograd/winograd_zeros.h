// ZeroFields: finds outputs whose whole receptive field is 0 and sets them to the bias (see
// ops/conv/geometry/zero_field.h). Included like winograd_lines.h.
#pragma once

#include <algorithm>

#include "ops/conv/geometry/zero_field.h"
#include "ops/conv/winograd/winograd_tiles.h"

namespace trireme::ops::winograd {

template <class S>
struct ZeroFields {
  static constexpr std::int64_t kBlock = S::kWidth;

  // An input tile; it may extend beyond the map.
  struct Tile {
    const float* sample;
    std::int64_t blocks, height, width, y, x;

    [[gnu::always_inline]] bool inside(std::int64_t i, std::int64_t j) const {
      return y + i >= 0 && y + i < height && x + j >= 0 && x + j < width;
    }
    // Whether a position inside the map is 0 in all channels.
    [[gnu::always_inline]] bool zero_inside(std::int64_t i, std::int64_t j) const {
      return ZeroField<S>::zero(sample + ((y + i) * width + x + j) * kBlock, height * width * kBlock, blocks);
    }
    // The same for any position; positions outside the map are 0.
    [[gnu::always_inline]] bool zero(std::int64_t i, std::int64_t j) const {
      return !inside(i, j) || zero_inside(i, j);
    }

    // False when no field of the tile's rows x columns outputs can be 0. Each field contains one of at most four
    // positions in the middle, and in most tiles without a zero field their first block of channels shows that.
    [[gnu::always_inline]] bool may_have_zero_field(std::int64_t rows, std::int64_t columns) const {
      if (rows == kStep && columns == kStep && inside(2, 2) && inside(3, 3))
        return zero_inside(2, 2) || zero_inside(2, 3) || zero_inside(3, 2) || zero_inside(3, 3);
      const std::int64_t i = middle(rows), j = middle(columns);
      return zero(i, j) || (columns == kStep && zero(i, j + 1)) ||
             (rows == kStep && (zero(i + 1, j) || (columns == kStep && zero(i + 1, j + 1))));
    }

    // The fields of n outputs in a line begin at 0 to n - 1 and are 3 long: each contains this position, or the next
    // one if n is 4.
    static std::int64_t middle(std::int64_t n) { return n >= 3 ? 2 : 1; }

    // Bit 6 i + j: position (i, j) is not 0.
    std::uint64_t nonzero() const {
      const auto least = [](std::int64_t at) { return std::max<std::int64_t>(-at, 0); };
      const auto most = [](std::int64_t at, std::int64_t size) { return std::min<std::int64_t>(size - at, kTile); };
      std::uint64_t bits = 0;
      for (std::int64_t i = least(y); i < most(y, height); ++i)
        for (std::int64_t j = least(x); j < most(x, width); ++j)
          bits |= std::uint64_t{!zero_inside(i, j)} << (kTile * i + j);
      return bits;
    }
  };

  static void set_zero_fields(const Maps& maps, const float* src, std::int64_t in_blocks, TileRange range,
                              std::int64_t out_blocks, const float* bias, bool relu, float* dst) {
    const std::int64_t in_sample = in_blocks * maps.height * maps.width * kBlock;
    const std::int64_t out_block = maps.out_height * maps.out_width * kBlock;
    typename Tiles<S>::TileWalk at(maps, range.first);
    for (std::int64_t tile = 0; tile < range.count; ++tile, at.next()) {
      const std::int64_t y = kStep * at.row, x = kStep * at.column;
      const std::int64_t rows = std::min<std::int64_t>(kStep, maps.out_height - y);
      const std::int64_t columns = std::min<std::int64_t>(kStep, maps.out_width - x);
      const Tile from{
          src + at.sample * in_sample, in_blocks, maps.height, maps.width, y - maps.pad_top, x - maps.pad_left};
      if (!from.may_have_zero_field(rows, columns)) continue;
      const std::uint64_t nonzero = from.nonzero();
      if (nonzero == 0) continue;  // sums of zeros are exact
      constexpr std::uint64_t kField = 0b111'000'111'000'111;
      float* to = dst + at.sample * out_blocks * out_block + (y * maps.out_width + x) * kBlock;
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          if ((nonzero & kField << (kTile * i + j)) == 0)
            ZeroField<S>::set_output(to + (i * maps.out_width + j) * kBlock, out_block, out_blocks, bias, relu);
    }
  }
};

}  // namespace trireme::ops::winograd
