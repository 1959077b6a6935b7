// SegmentTimes: the expected time of each segment of a member's work on an undisturbed core, learnt from earlier steps.
// One caller at a time; the const methods may be called by many threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace trireme::crew {

class SegmentTimes {
 public:
  explicit SegmentTimes(std::size_t segments = 0) : least_(segments, 0), rest_(segments + 1, 0) {}

  std::size_t segments() const { return least_.size(); }
  // Nanoseconds; 0 while unknown.
  std::int64_t of(std::size_t segment) const { return rest_[segment] - rest_[segment + 1]; }
  std::int64_t from(std::size_t segment) const { return rest_[segment]; }  // from this segment to the end
  std::int64_t whole() const { return rest_.front(); }

  void forget() {
    std::ranges::fill(least_, 0);
    std::ranges::fill(rest_, 0);
  }
  // Raises the recorded times by 1/32, so that a lasting slowdown is accepted after some steps.
  void age() {
    for (std::int64_t& least : least_) least += least / kAging;
  }
  // Records a member's segment times. The minimum counts, because longer times come from disturbances.
  void see(std::span<const std::int64_t> took) {
    for (std::size_t s = least_.size(); s-- > 0;) {
      least_[s] = least_[s] == 0 ? took[s] : std::min(least_[s], took[s]);
      rest_[s] = rest_[s + 1] + least_[s];
    }
  }

 private:
  static constexpr std::int64_t kAging = 32;

  std::vector<std::int64_t> least_, rest_;
};

}  // namespace trireme::crew
