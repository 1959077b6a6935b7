#include "strategy/common/update_capture.h"

#include <algorithm>

#include "base/index.h"

namespace trireme::strategy {
namespace {
using base::at;
}  // namespace

UpdateCapture::UpdateCapture(base::Range floats)
    : floats_(floats), gradients_(at(floats.size())), updates_(at(floats.size())) {}

void UpdateCapture::set_step(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  ranges_.clear();
}

void UpdateCapture::before(std::int64_t offset, std::span<const float> weights, const float* gradient) {
  const std::size_t first = at(offset - floats_.begin);
  std::copy_n(gradient, weights.size(), gradients_.begin() + offset - floats_.begin);
  for (std::size_t i = 0; i < weights.size(); ++i) updates_[first + i] = -weights[i];
}

void UpdateCapture::after(std::int64_t offset, std::span<const float> weights) {
  const std::size_t first = at(offset - floats_.begin);
  for (std::size_t i = 0; i < weights.size(); ++i) updates_[first + i] += weights[i];
  const std::lock_guard lock(mutex_);
  ranges_.push_back({offset, offset + static_cast<std::int64_t>(weights.size())});
}

std::vector<base::Range> UpdateCapture::ranges() const {
  const std::lock_guard lock(mutex_);
  std::vector<base::Range> sorted = ranges_, merged;
  std::ranges::sort(sorted, {}, &base::Range::begin);
  for (const base::Range& range : sorted)
    if (!merged.empty() && range.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, range.end);
    else
      merged.push_back(range);
  return merged;
}

std::span<const float> UpdateCapture::within(const std::vector<float>& all, base::Range part) const {
  return std::span(all).subspan(at(part.begin - floats_.begin), at(part.size()));
}

}  // namespace trireme::strategy
