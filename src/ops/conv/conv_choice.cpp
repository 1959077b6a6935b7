#include "ops/conv/conv_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/conv/narrow/narrow_conv.h"
#include "ops/conv/small_map/small_map_conv.h"
#include "ops/conv/toom_cook/toom_cook.h"
#include "ops/conv/winograd/winograd.h"

namespace trireme::ops {
namespace {

constexpr std::int64_t kFewPositions = 4;
constexpr std::int64_t kFewChannels = 16;  // with more channels the narrow kernel is never the fastest

// The cost in vector multiply-adds per input channel and vector of output channels, the same for all three directions:
// 36 per tile; about 360 for the transforms of a tile, which all channels of the other side share; about 200 for the
// transform of the filter. Measured on Zen 4 against oneDNN's direct kernels (docs/design/004-winograd.md).
double winograd_cost(const ConvShape& s) {
  const std::int64_t rows = (s.out[0] + 3) / 4, columns = (s.out[1] + 3) / 4;
  const auto tiles = static_cast<double>(s.samples * rows * columns);
  // A partial vector of output channels costs as much as a whole one.
  const std::int64_t out_channels = (s.out_channels + base::kLanes - 1) / base::kLanes * base::kLanes;
  const double shared = 1 / static_cast<double>(s.in_channels) + 1 / static_cast<double>(out_channels);
  return tiles * (36 + 360 * shared) + 200;
}

ConvShape shape_of(const ConvOptions& o, const Shape& src, const Shape& dst) {
  const auto pair = [](const std::vector<std::int64_t>& sizes) { return std::array{sizes[0], sizes[1]}; };
  return {.samples = dst[0],
          .in_channels = src[1],
          .out_channels = dst[1],
          .groups = o.groups,
          .in = {src[2], src[3]},
          .out = {dst[2], dst[3]},
          .kernel = pair(o.kernel),
          .stride = pair(o.stride),
          .padding = pair(o.padding),
          .bias = o.bias};
}

}  // namespace

KernelChoices conv_choices(const ConvOptions& o, const Shape& src, const Shape& dst, base::Isa isa) {
  KernelChoices all;
  all.layer =
      fmt::format("conv {} to {}, kernel {}, stride {}, padding {}, groups {}", src.without_batch().text(), o.channels,
                  Shape(o.kernel).text(), Shape(o.stride).text(), Shape(o.padding).text(), o.groups);
  const auto add = [&](const char* name, bool preferred) {
    all.algorithms.insert(preferred ? all.algorithms.begin() : all.algorithms.end(), name);
  };
  add(kDirect, true);
  if (small_map_conv_fits(o, src, dst) && dst.count_from(2) <= kFewPositions)
    add(kSmallMap, small_map_conv_wins(o, src, dst, isa));
  if (o.kernel.size() == 2) {
    const ConvShape shape = shape_of(o, src, dst);
    if (winograd_fits(shape, isa)) add(kWinograd, winograd_or_direct(shape, isa) == ConvAlgorithm::winograd);
  }
  if (toom_cook_fits(o, src, isa)) add(kToomCook, toom_cook_wins(o, src, dst, isa));
  // Last, hence first where it wins: Winograd works on whole vectors of output channels too.
  if (narrow_conv_fits(o) && std::min(src[1], dst[1]) <= kFewChannels) add(kNarrow, narrow_conv_wins(o, src, dst, isa));
  return all;
}

std::string choose_algorithm(const ConvOptions& o, const KernelRequest& request, const KernelChoices& possible) {
  if (request.threads != 1) return kDirect;  // the others work on one thread
  if (o.algorithm) {
    const bool fits = std::ranges::find(possible.algorithms, kWinograd) != possible.algorithms.end();
    return *o.algorithm == ConvAlgorithm::winograd && fits ? kWinograd : kDirect;
  }
  return request.table ? request.table->pick(base::active_isa(), possible) : possible.algorithms.front();
}

bool winograd_fits(const ConvShape& s, base::Isa isa) {
  using Pair = std::array<std::int64_t, 2>;
  const std::int64_t block = winograd_block(isa);
  return s.kernel == Pair{3, 3} && s.stride == Pair{1, 1} && s.groups == 1 && s.in_channels % block == 0 &&
         (s.out_channels % block == 0 || !s.bias);
}

ConvAlgorithm winograd_or_direct(const ConvShape& s, base::Isa isa) {
  if (isa == base::Isa::generic || !winograd_fits(s, isa)) return ConvAlgorithm::direct;
  const auto direct = static_cast<double>(s.samples * products_inside(s.in[0], s.out[0], 3, s.padding[0]) *
                                          products_inside(s.in[1], s.out[1], 3, s.padding[1]));
  return winograd_cost(s) < direct ? ConvAlgorithm::winograd : ConvAlgorithm::direct;
}

}  // namespace trireme::ops
