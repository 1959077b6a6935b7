// How a Winograd convolution is cut up, and what scratch memory that takes: a pure function of the layer's shape. Bits
// do not depend on it.
//
// Many tiles against few channels: all filters are transformed once, and the tiles go through all passes in runs that
// stay in the second-level cache. Few tiles: all tiles are transformed at once (one run), and filters in groups of
// channels that stay in that cache. So neither U (4 times the weights) nor V (2.25 times the input) is ever whole in
// memory where it is the larger one.
#pragma once

#include <cstddef>

#include "ops/conv/winograd/winograd_passes.h"

namespace trireme::ops::winograd {

struct WinogradPlan {
  Maps maps;
  std::int64_t block = 0;  // channels of a vector
  std::int64_t in_blocks = 0, out_blocks = 0;
  std::int64_t run = 0;  // tiles in a run
  // Filters are transformed for so many blocks of lanes and of the sum at once; their gradients for weight_group blocks
  // of input and of output.
  std::int64_t lane_group = 0, sum_group = 0, weight_group = 0;

  std::int64_t runs() const { return (maps.tiles() + run - 1) / run; }
  TileRange tiles(std::int64_t r) const;

  // One run's tiles of so many blocks of channels, and filters of so many blocks of lanes and of the sum.
  std::size_t tile_bytes(std::int64_t blocks) const;
  std::size_t filter_bytes(std::int64_t lanes, std::int64_t sums) const;
  TilePlanes tile_planes(std::byte* at, std::int64_t blocks) const;
  FilterPlanes filter_planes(std::byte* at, std::int64_t lanes, std::int64_t sums) const;

  std::size_t forward_bytes() const;
  std::size_t backward_bytes(bool diff_src) const;
};

WinogradPlan make_plan(const Maps& maps, std::int64_t in_channels, std::int64_t out_channels, std::int64_t block);

}  // namespace trireme::ops::winograd
