// StragglerMonitor: measures what each worker does, and which one the others wait for in synchronous steps.
// Runs in the helm's thread.
//
// Every worker notes the time at which its gradient was complete, before any exchange. The last worker of a step is
// charged with the time between the median of the other workers' times and its own.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "observe/events.h"
#include "strategy/common/strategy.h"

namespace trireme::train {

class StragglerMonitor {
 public:
  // `clock_ahead_ns`: how far each worker's clock is ahead of the helm's.
  explicit StragglerMonitor(std::vector<std::int64_t> clock_ahead_ns);

  void see(const std::vector<strategy::WorkerStepReport>& notes);
  // Removes a lost worker; the numbers of those after it decrease by one.
  void lose(int worker);
  // A push with `clock` earlier ones.
  void add_push(int worker, const observe::StepSeconds& seconds, std::int64_t clock = 0);

  // Per worker: the sums over its steps or pushes.
  std::vector<observe::StepSeconds> seconds() const;
  // Per worker: the seconds that it made the others wait.
  std::vector<double> caused() const;
  // "worker 2 makes everybody wait 18 %: its forward is slow"; empty below 5 % of `total_seconds`.
  std::string sentence(double total_seconds) const;

  // What the workers have done since the last report, which is `seconds` ago; without step, hosts and oars. The
  // sentence is about the last ten reports.
  observe::WorkersReport report(double seconds);
  // False if there was no step or push since the last report.
  bool has_news() const { return has_news_; }

 private:
  struct Totals {
    observe::StepSeconds seconds{};
    double caused = 0;
    std::int64_t steps = 0, clock = 0;
  };
  using AllTotals = std::vector<Totals>;  // per worker
  struct Reported {
    AllTotals before;    // the totals when the report's time began
    double seconds = 0;  // that it covers
  };
  static AllTotals difference(const AllTotals& after, const AllTotals& before);
  static std::string sentence_of(const AllTotals& totals, double total_seconds);

  std::vector<std::int64_t> ahead_;
  AllTotals totals_, reported_;
  std::deque<Reported> recent_;  // the last reports
  bool has_news_ = false;
};

}  // namespace trireme::train
