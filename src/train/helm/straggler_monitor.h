// StragglerMonitor: who lets the others wait in synchronous steps. Every worker stamps the moment at which its gradient
// was complete, before anything is exchanged; the last one makes the others wait from the middle of their own moments
// on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strategy/common/strategy.h"

namespace trireme::train {

class StragglerMonitor {
 public:
  // How far each worker's clock is ahead of the helm's.
  explicit StragglerMonitor(std::vector<std::int64_t> clock_ahead_ns);

  void see(const std::vector<strategy::WorkerStepReport>& notes);
  // A worker is gone; those behind it count one less.
  void lose(int worker);
  void add_push(int worker, const observe::StepSeconds& seconds);

  // Sums of each worker.
  const std::vector<observe::StepSeconds>& seconds() const { return seconds_; }
  // Seconds that each made all others wait.
  const std::vector<double>& caused() const { return caused_; }
  // "worker 2 makes everybody wait 18 %: its forward is slow", or nothing worth saying.
  std::string sentence(double total_seconds) const;

 private:
  std::vector<std::int64_t> ahead_;
  std::vector<observe::StepSeconds> seconds_;
  std::vector<double> caused_;
};

}  // namespace trireme::train
