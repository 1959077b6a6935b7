#include "ops/conv/winograd/winograd_plan.h"

#include <algorithm>

namespace trireme::ops::winograd {
namespace {

// The padding of a point's plane, in floats: planes a power of two apart would share cache sets.
constexpr std::int64_t kGap = 16;

// The part of a 1 MB L2 cache for the tiles of a run, and the fewest tiles in a run for which loading the filters pays
// off.
constexpr std::int64_t kRunBytes = 600'000;
constexpr std::int64_t kFewestTiles = 28;

// Channels: U of 32 x 128 and dU of 64 x 64 take 590 KB.
constexpr std::int64_t kLaneGroup = 32, kSumGroup = 128, kWeightGroup = 64;

std::size_t bytes(std::int64_t plane) { return static_cast<std::size_t>(kPoints * plane) * sizeof(float); }

}  // namespace

TileRange WinogradPlan::tiles(std::int64_t r) const { return {r * run, std::min(run, maps.tiles() - r * run)}; }

std::size_t WinogradPlan::tile_bytes(std::int64_t blocks) const { return bytes(blocks * run * block + kGap); }

std::size_t WinogradPlan::filter_bytes(std::int64_t lanes, std::int64_t sums) const {
  return bytes(lanes * block * sums * block + kGap);
}

TilePlanes WinogradPlan::tile_planes(std::byte* at, std::int64_t blocks) const {
  return {reinterpret_cast<float*>(at), blocks * run * block + kGap, run * block};
}

FilterPlanes WinogradPlan::filter_planes(std::byte* at, std::int64_t lanes, std::int64_t sums) const {
  return {reinterpret_cast<float*>(at), lanes * block * sums * block + kGap, sums * block};
}

std::size_t WinogradPlan::forward_bytes() const {
  return filter_bytes(std::min(lane_group, out_blocks), std::min(sum_group, in_blocks)) +
         tile_bytes(std::min(lane_group, out_blocks)) + tile_bytes(in_blocks);
}

std::size_t WinogradPlan::backward_bytes(bool diff_src) const {
  const std::size_t tiles = tile_bytes(in_blocks) + tile_bytes(out_blocks);
  const std::size_t weights = filter_bytes(std::min(weight_group, out_blocks), std::min(weight_group, in_blocks));
  if (!diff_src) return tiles + weights;
  const std::size_t filters = filter_bytes(std::min(lane_group, in_blocks), std::min(sum_group, out_blocks));
  if (runs() > 1) return tiles + weights + filters;
  return tiles + std::max(weights, filters + tile_bytes(std::min(lane_group, in_blocks)));
}

WinogradPlan make_plan(const Maps& maps, std::int64_t in_channels, std::int64_t out_channels, std::int64_t block) {
  WinogradPlan plan;
  plan.maps = maps;
  plan.block = block;
  plan.in_blocks = in_channels / block;
  plan.out_blocks = out_channels / block;
  if (maps.tiles() * (in_channels + out_channels) < 2 * in_channels * out_channels) {  // tiles smaller than U and dU
    plan.run = maps.tiles();
    plan.lane_group = kLaneGroup / block;
    plan.sum_group = kSumGroup / block;
    plan.weight_group = kWeightGroup / block;
    return plan;
  }
  plan.lane_group = plan.sum_group = plan.weight_group = std::max(plan.in_blocks, plan.out_blocks);
  const std::int64_t tile_bytes = kPoints * static_cast<std::int64_t>(sizeof(float)) * (in_channels + out_channels);
  const std::int64_t most = std::max(kRunBytes / tile_bytes / kFewestTiles, std::int64_t{1}) * kFewestTiles;
  const std::int64_t runs = (maps.tiles() + most - 1) / most;
  plan.run = (maps.tiles() + runs - 1) / runs;
  return plan;
}

}  // namespace trireme::ops::winograd
