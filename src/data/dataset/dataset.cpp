#include "data/dataset/dataset.h"

#include <fmt/core.h>

#include <array>

namespace trireme::data {

namespace {
constexpr std::array kTargetNames = {"classes", "labels", "values"};  // in the order of TargetKind
}

const char* target_name(TargetKind kind) { return kTargetNames[static_cast<std::size_t>(kind)]; }

std::optional<TargetKind> target_kind(std::string_view name) {
  for (std::size_t k = 0; k < kTargetNames.size(); ++k)
    if (name == kTargetNames[k]) return static_cast<TargetKind>(k);
  return {};
}

std::int64_t target_floats(const DataSpec& spec) { return spec.target == TargetKind::classes ? 1 : spec.classes; }

std::string spec_text(const DataSpec& spec) {
  std::string inputs;
  for (const tensor::Shape& shape : spec.inputs) inputs += (inputs.empty() ? "" : " + ") + shape.text();
  std::string targets = target_name(spec.target);
  if (spec.classes == 1) targets = spec.target == TargetKind::classes ? "class" : targets.substr(0, targets.size() - 1);
  return fmt::format("{} -> {} {}", inputs, spec.classes, targets);
}

void each_target(const Dataset& dataset, base::FunctionRef<void(std::int64_t, std::span<const float>)> see) {
  const DataSpec& spec = dataset.spec();
  std::array<StoredValues, kMaxInputs> stored{};
  std::vector<std::vector<float>> sample;
  std::vector<float*> places;
  for (const tensor::Shape& shape : spec.inputs) sample.emplace_back(static_cast<std::size_t>(shape.count()));
  for (auto& input : sample) places.push_back(input.data());
  std::vector<float> target(static_cast<std::size_t>(target_floats(spec)));
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    if (!dataset.view(i, stored, target.data())) dataset.fetch(i, {}, places, target.data());
    see(i, target);
  }
}

std::vector<std::int64_t> class_counts(const Dataset& dataset) {
  const DataSpec& spec = dataset.spec();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(spec.classes));
  if (spec.target == TargetKind::values) return counts;
  each_target(dataset, [&](std::int64_t, std::span<const float> target) {
    if (spec.target == TargetKind::classes) {
      const float label = target[0];
      if (label >= 0 && label < static_cast<float>(spec.classes)) ++counts[static_cast<std::size_t>(label)];
      return;
    }
    for (std::size_t k = 0; k < target.size(); ++k) counts[k] += target[k] != 0 ? 1 : 0;
  });
  return counts;
}

}  // namespace trireme::data
