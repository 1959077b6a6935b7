// How a Winograd convolution is cut up: runs of tiles and groups of channels, and where in the scratch memory each
// piece lies. A pure function of the layer's shape; bits do not depend on it.
//
// Few tiles (T) against many channels: all transformed tiles are kept, and filters are transformed for a group of
// channels at a time. Else all transformed filters are kept, and a run of tiles at a time goes through all passes
// while it lies in the second-level cache.
#pragma once

#include <cstddef>

#include "ops/winograd_passes.h"

namespace trireme::ops::winograd {

struct Piece {
  std::size_t at = 0;  // bytes from the start of the scratch memory
  std::int64_t plane = 0, block = 0;
};

struct Plan {
  Maps maps;
  std::int64_t block = 0;  // channels of a vector
  std::int64_t in_blocks = 0, out_blocks = 0;
  bool keep_tiles = false;                   // all transformed tiles, not all transformed filters
  std::int64_t run = 0;                      // tiles in a run
  std::int64_t in_group = 0, out_group = 0;  // blocks of channels in a group

  std::int64_t runs() const { return (maps.tiles() + run - 1) / run; }
  TileRange tiles(std::int64_t r) const;

  // Bytes of one run's tiles of so many blocks of channels, of the filters between two counts of blocks.
  std::size_t tile_bytes(std::int64_t blocks) const;
  std::size_t filter_bytes(std::int64_t lanes, std::int64_t sums) const;
  TilePlanes tile_planes(std::byte* at, std::int64_t blocks) const;
  FilterPlanes filter_planes(std::byte* at, std::int64_t lanes, std::int64_t sums) const;

  std::size_t forward_bytes() const;
  std::size_t backward_bytes(bool diff_src) const;
};

Plan make_plan(const Maps& maps, std::int64_t in_channels, std::int64_t out_channels, std::int64_t block);

}  // namespace trireme::ops::winograd
