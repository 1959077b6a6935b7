#include "data/dataset/target_scale.h"

namespace trireme::data {
namespace {

void change_values(const TargetScale& scale, std::span<float> values, const auto& change) {
  if (scale.is_none()) return;
  const std::size_t width = scale.mean.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<float>(change(static_cast<double>(values[i]), scale.mean[i % width], scale.deviation[i % width]));
}

}  // namespace

void standardise(const TargetScale& scale, std::span<float> targets) {
  change_values(scale, targets, [](double v, double mean, double deviation) { return (v - mean) / deviation; });
}

void restore(const TargetScale& scale, std::span<float> outputs) {
  change_values(scale, outputs, [](double v, double mean, double deviation) { return v * deviation + mean; });
}

}  // namespace trireme::data
