// WinogradPlan: the blocking of a Winograd convolution and the scratch memory that it takes.
// Plain data; make_plan() is a pure function of the layer's shape and thread-safe. The bits do not depend on the plan.
//
// With many tiles and few channels, all filters are transformed once, and the tiles go through all passes in runs that
// stay in the L2 cache. With few tiles, all tiles are transformed at once (one run), and the filters in groups of
// channels that stay in the L2 cache. So the larger of U (4 times the weights) and V (2.25 times the input) is never
// whole in memory.
#pragma once

#include <cstddef>

#include "ops/conv/winograd/winograd_passes.h"

namespace trireme::ops::winograd {

struct WinogradPlan {
  Maps maps;
  std::int64_t block = 0;  // channels of a vector
  std::int64_t in_blocks = 0, out_blocks = 0;
  std::int64_t run = 0;  // tiles in a run
  // Filters are transformed in groups of lane_group blocks of lanes and sum_group blocks of the sum; their gradients in
  // groups of weight_group blocks of input and of output.
  std::int64_t lane_group = 0, sum_group = 0, weight_group = 0;

  std::int64_t runs() const { return (maps.tiles() + run - 1) / run; }
  TileRange tiles(std::int64_t r) const;

  // The memory of one run's tiles with `blocks` blocks of channels, and of filters with `lanes` blocks of lanes and
  // `sums` blocks of the sum.
  std::size_t tile_bytes(std::int64_t blocks) const;
  std::size_t filter_bytes(std::int64_t lanes, std::int64_t sums) const;
  TilePlanes tile_planes(std::byte* at, std::int64_t blocks) const;
  FilterPlanes filter_planes(std::byte* at, std::int64_t lanes, std::int64_t sums) const;

  std::size_t forward_bytes() const;
  std::size_t backward_bytes(bool diff_src) const;
};

WinogradPlan make_plan(const Maps& maps, std::int64_t in_channels, std::int64_t out_channels, std::int64_t block);

}  // namespace trireme::ops::winograd
