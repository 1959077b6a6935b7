// StragglerMonitor: measures which worker the others wait for in synchronous steps.
// Runs in the helm's thread.
//
// Every worker notes the time at which its gradient was complete, before any exchange. The last worker of a step is
// charged with the time between the median of the other workers' times and its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strategy/common/strategy.h"

namespace trireme::train {

class StragglerMonitor {
 public:
  // `clock_ahead_ns`: how far each worker's clock is ahead of the helm's.
  explicit StragglerMonitor(std::vector<std::int64_t> clock_ahead_ns);

  void see(const std::vector<strategy::WorkerStepReport>& notes);
  // Removes a lost worker; the numbers of those after it decrease by one.
  void lose(int worker);
  void add_push(int worker, const observe::StepSeconds& seconds);

  // Per worker: the sums over its steps or pushes.
  const std::vector<observe::StepSeconds>& seconds() const { return seconds_; }
  // Per worker: the seconds that it made the others wait.
  const std::vector<double>& caused() const { return caused_; }
  // "worker 2 makes everybody wait 18 %: its forward is slow"; empty below 5 % of `total_seconds`.
  std::string sentence(double total_seconds) const;

 private:
  std::vector<std::int64_t> ahead_;
  std::vector<observe::StepSeconds> seconds_;
  std::vector<double> caused_;
};

}  // namespace trireme::train
