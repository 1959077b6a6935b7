#include "data/stages/target_scale.h"

#include <utility>

#include "base/error.h"

namespace trireme::data {
namespace {

class ScaledTargets : public Dataset {
 public:
  ScaledTargets(DatasetPtr source, TargetScale scale) : source_(std::move(source)), scale_(std::move(scale)) {}
  const DataSpec& spec() const override { return source_->spec(); }
  std::int64_t size() const override { return source_->size(); }
  std::string origin(std::int64_t index) const override { return source_->origin(index); }
  void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
             float* target) const override {
    source_->fetch(index, random, inputs, target);
    standardise(scale_, {target, scale_.mean.size()});
  }
  bool view(std::int64_t index, std::span<StoredValues> inputs, float* target) const override {
    if (!source_->view(index, inputs, target)) return false;
    standardise(scale_, {target, scale_.mean.size()});
    return true;
  }

 private:
  DatasetPtr source_;
  TargetScale scale_;
};

}  // namespace

TargetScale compute_target_scale(const Dataset& source) {
  const auto width = static_cast<std::size_t>(target_floats(source.spec()));
  const auto samples = static_cast<double>(source.size());
  TargetScale scale{std::vector<double>(width), std::vector<double>(width)};
  each_target(source, [&](std::int64_t, std::span<const float> target) {
    for (std::size_t k = 0; k < width; ++k) scale.mean[k] += static_cast<double>(target[k]);
  });
  for (double& mean : scale.mean) mean /= samples;
  each_target(source, [&](std::int64_t, std::span<const float> target) {
    for (std::size_t k = 0; k < width; ++k) {
      const double from_mean = static_cast<double>(target[k]) - scale.mean[k];
      scale.deviation[k] += from_mean * from_mean;
    }
  });
  for (double& deviation : scale.deviation) {
    deviation = __builtin_sqrt(deviation / samples);
    if (deviation == 0) deviation = 1;
  }
  return scale;
}

void check_target_scale(const TargetScale& scale, const DataSpec& spec) {
  const auto values = spec.target == TargetKind::values ? static_cast<std::size_t>(spec.classes) : 0;
  for (const auto* numbers : {&scale.mean, &scale.deviation})
    if (numbers->size() != values && !(scale.mean.empty() && numbers->empty()))
      base::user_error("a target scale of {} values does not fit samples of {}; take data with the values of the run",
                       numbers->size(), spec_text(spec));
}

DatasetPtr scale_targets(DatasetPtr source, TargetScale scale) {
  check_target_scale(scale, source->spec());
  if (scale.is_none()) return source;
  return std::make_shared<ScaledTargets>(std::move(source), std::move(scale));
}

}  // namespace trireme::data
