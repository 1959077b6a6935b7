#include "train/evaluation/confusion_counter.h"

#include <algorithm>

#include "base/index.h"

namespace trireme::train {
namespace {

constexpr std::uint8_t kNoClass = 255;

}  // namespace

ConfusionCounter::ConfusionCounter(std::int64_t classes, base::Range samples)
    : classes_(classes),
      first_(samples.begin),
      targets_(base::at(samples.size()), kNoClass),
      predicted_(base::at(samples.size()), kNoClass) {}

void ConfusionCounter::set_targets(std::int64_t first, std::int64_t samples, const float* targets) {
  for (std::int64_t s = 0; s < samples; ++s)
    if (targets[s] >= 0 && targets[s] < static_cast<float>(classes_))
      targets_[base::at(first - first_ + s)] = static_cast<std::uint8_t>(targets[s]);
}

void ConfusionCounter::see(std::int64_t first, std::int64_t samples, const float* outputs) {
  for (std::int64_t s = 0; s < samples; ++s) {
    const float* output = outputs + s * classes_;
    predicted_[base::at(first - first_ + s)] =
        static_cast<std::uint8_t>(std::max_element(output, output + classes_) - output);
  }
}

std::vector<std::int64_t> ConfusionCounter::counts() const {
  std::vector<std::int64_t> counts(base::at(classes_ * classes_));
  for (std::size_t s = 0; s < targets_.size(); ++s)
    if (targets_[s] != kNoClass && predicted_[s] != kNoClass)
      ++counts[targets_[s] * base::at(classes_) + predicted_[s]];
  return counts;
}

}  // namespace trireme::train
