#include "train/results/layer_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/index.h"

namespace trireme::train {
namespace {

using base::at;

constexpr std::size_t kBins = 30;
constexpr double kUnknownNorm = std::numeric_limits<double>::quiet_NaN();

double norm_of(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

}  // namespace

void StepUpdates::add(base::Range floats) {
  known.push_back(floats);
  std::ranges::sort(known, {}, &base::Range::begin);
  std::vector<base::Range> merged;
  for (const base::Range& range : known)
    if (!merged.empty() && range.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  known = std::move(merged);
}

bool StepUpdates::knows(base::Range floats) const {
  return std::ranges::any_of(
      known, [&](const base::Range& range) { return range.begin <= floats.begin && floats.end <= range.end; });
}

observe::Histogram histogram_of(std::span<const float> values) {
  observe::Histogram histogram;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, static_cast<double>(value));
    high = std::max(high, static_cast<double>(value));
  }
  if (low > high) return histogram;
  if (low == high) {  // a bin needs a width
    const double half = std::max(1e-6, std::abs(low) * 1e-3);
    low -= half;
    high += half;
  }
  histogram = {low, high, std::vector<std::int64_t>(kBins)};
  const double factor = static_cast<double>(kBins) / (high - low);
  for (const float value : values)
    if (std::isfinite(value))
      ++histogram.counts[std::min(kBins - 1, static_cast<std::size_t>((static_cast<double>(value) - low) * factor))];
  return histogram;
}

std::vector<observe::LayerStatistics::Parameter> layer_statistics(const tensor::ParameterSpace& space,
                                                                  std::span<const float> weights,
                                                                  const StepUpdates& updates) {
  std::vector<observe::LayerStatistics::Parameter> all;
  std::vector<float> plain;
  for (const tensor::ParameterRange& range : space.ranges()) {
    if (range.kind != tensor::ParameterKind::trained) continue;
    const auto values_of = [&](std::span<const float> floats) -> std::span<const float> {
      plain.resize(at(range.count()));
      tensor::to_plain(range.layout, floats.data() + range.offset, plain.data());
      return plain;
    };
    observe::LayerStatistics::Parameter& parameter = all.emplace_back();
    parameter.name = range.name;
    parameter.elements = range.count();
    parameter.gradients = parameter.updates = kUnknownNorm;
    parameter.weights = norm_of(values_of(weights));
    parameter.weight_values = histogram_of(plain);
    if (!updates.knows({range.offset, range.offset + range.floats()})) continue;
    parameter.updates = norm_of(values_of(updates.updates));
    parameter.gradients = norm_of(values_of(updates.gradients));
    parameter.gradient_values = histogram_of(plain);
  }
  return all;
}

}  // namespace trireme::train
