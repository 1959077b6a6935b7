// ClockFit: how far this rank's clock is ahead of rank 0's, and how fast it moves away, from exchanges of times.
// One thread at a time.
//
// An exchange: this rank sends its time, rank 0 answers with its own. Rank 0 read its clock somewhere between question
// and answer, so the offset is known up to half of the round trip, however unequal the two ways are. Of each half
// second the fastest exchange counts. A straight line through these is the fit. Exchanges are forgotten after half a
// minute, or when they do not lie on a line with the newer ones, so it follows a clock whose speed changes. The error
// of the fit is a straight line as well, and bounded wherever there is an exchange: by that exchange's half round trip
// and its distance from the fit. Hence a bound at any other time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/system/clock_model.h"

namespace trireme::comm {

// A rank's clock in nanoseconds; tests pass their own.
using Clock = std::function<std::int64_t()>;

struct ClockExchange {
  std::int64_t asked_ns = 0;     // own time
  std::int64_t answer_ns = 0;    // rank 0's time
  std::int64_t answered_ns = 0;  // own time
};

class ClockFit {
 public:
  void add(const ClockExchange& exchange);
  bool is_empty() const { return points_.empty(); }
  // The fit, with the bound that holds at `own_ns` and a quarter of a second before.
  base::ClockModel at(std::int64_t own_ns) const;

 private:
  struct Point {
    std::int64_t at_ns = 0;     // own time, half-way between question and answer
    std::int64_t ahead_ns = 0;  // of rank 0's clock
    std::int64_t error_ns = 0;  // half of the round trip
  };

  struct Line;
  Line line_from(std::size_t first) const;  // through the points from this one on
  // Of a point; time and offset are relative to the newest point's.
  double time_of(std::size_t i) const;
  double offset_of(std::size_t i) const;
  double error_of(std::size_t i) const;

  std::deque<Point> points_;  // the fastest of each interval, oldest first
};

}  // namespace trireme::comm
