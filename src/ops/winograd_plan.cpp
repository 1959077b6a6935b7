#include "ops/winograd_plan.h"

#include <algorithm>

namespace trireme::ops::winograd {
namespace {

// Planes of points are this many floats longer than their content: powers of two apart they would share cache sets.
constexpr std::int64_t kGap = 16;

std::size_t bytes(std::int64_t plane) { return static_cast<std::size_t>(kPoints * plane) * sizeof(float); }

}  // namespace

TileRange Plan::tiles(std::int64_t r) const { return {r * run, std::min(run, maps.tiles() - r * run)}; }

std::size_t Plan::tile_bytes(std::int64_t blocks) const { return bytes(blocks * run * block + kGap); }

std::size_t Plan::filter_bytes(std::int64_t lanes, std::int64_t sums) const {
  return bytes(lanes * block * sums * block + kGap);
}

TilePlanes Plan::tile_planes(std::byte* at, std::int64_t blocks) const {
  return {reinterpret_cast<float*>(at), blocks * run * block + kGap, run * block};
}

FilterPlanes Plan::filter_planes(std::byte* at, std::int64_t lanes, std::int64_t sums) const {
  return {reinterpret_cast<float*>(at), lanes * block * sums * block + kGap, sums * block};
}

std::size_t Plan::forward_bytes() const {
  return filter_bytes(out_group, in_blocks) +
         static_cast<std::size_t>(keep_tiles ? runs() : 1) * tile_bytes(in_blocks) + tile_bytes(out_group);
}

std::size_t Plan::backward_bytes(bool diff_src) const {
  const std::size_t kept = static_cast<std::size_t>(keep_tiles ? runs() : 1);
  const std::size_t tiles = kept * (tile_bytes(in_blocks) + tile_bytes(out_blocks));
  const std::size_t weights = filter_bytes(out_group, in_group);
  const std::size_t data = !diff_src ? 0 : filter_bytes(in_group, out_blocks) + tile_bytes(in_group);
  return tiles +
         (keep_tiles ? std::max(weights, data) : weights + (diff_src ? filter_bytes(in_blocks, out_blocks) : 0));
}

Plan make_plan(const Maps& maps, std::int64_t in_channels, std::int64_t out_channels, std::int64_t block) {
  Plan plan;
  plan.maps = maps;
  plan.block = block;
  plan.in_blocks = in_channels / block;
  plan.out_blocks = out_channels / block;
  plan.keep_tiles = maps.tiles() * (in_channels + out_channels) < 2 * in_channels * out_channels;
  const std::int64_t group = 64 / block;
  plan.in_group = plan.keep_tiles ? std::min(plan.in_blocks, group) : plan.in_blocks;
  plan.out_group = plan.keep_tiles ? std::min(plan.out_blocks, group) : plan.out_blocks;
  const std::int64_t per_tile =
      kPoints * static_cast<std::int64_t>(sizeof(float)) * (in_channels + plan.out_group * block);
  const std::int64_t strip = block == 16 ? 14 : 6;
  const std::int64_t most = std::max<std::int64_t>(600000 / per_tile / strip * strip, 28 / strip * strip);
  const std::int64_t runs = (maps.tiles() + most - 1) / most;
  plan.run = (maps.tiles() + runs - 1) / runs;
  return plan;
}

}  // namespace trireme::ops::winograd
