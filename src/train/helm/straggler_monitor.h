// StragglerMonitor: measures what each worker does, and which one the others wait for in synchronous steps.
// Runs in the helm's thread.
//
// Every worker notes the time at which its gradient was complete, before any exchange. The last worker of a step is
// charged with the time between the median of the other workers' times and its own; or, if that is more, with what it
// loaded and computed longer than the median of the others: they may have waited for it at the beginning of the step,
// for weights that it did not send while it loaded.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "observe/events.h"
#include "strategy/common/strategy.h"
#include "train/helm/link_speeds.h"

namespace trireme::train {

class StragglerMonitor {
 public:
  // `clock_ahead_ns`: how far each worker's clock is ahead of the helm's.
  explicit StragglerMonitor(std::vector<std::int64_t> clock_ahead_ns);

  // `shares`: the oars of each worker in this step; empty: unknown.
  void see(const std::vector<strategy::WorkerStepReport>& notes, const std::vector<base::Range>& shares = {});
  // What a worker's connections to other hosts have carried so far.
  void set_links(int worker, std::vector<observe::TcpLoad> loads) { links_.set(worker, std::move(loads)); }
  // Removes a lost worker; the numbers of those after it decrease by one.
  void lose(int worker);
  // A push with `clock` earlier ones.
  void add_push(int worker, const observe::StepSeconds& seconds, std::int64_t clock = 0);

  // Per worker: the sums over its steps or pushes.
  std::vector<observe::StepSeconds> seconds() const;
  // Per worker: the seconds that it made the others wait.
  std::vector<double> caused() const;
  // "worker 2 makes everybody wait 18 %: its forward is slow"; empty below 5 % of `total_seconds`. Where nobody is
  // late, because a slow worker computes fewer oars or all wait for a slow link, the sentence says that.
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
    std::int64_t portions = 0;  // oars or pushes
  };
  using AllTotals = std::vector<Totals>;  // per worker
  struct Reported {
    AllTotals before;    // the totals when the report's time began
    double seconds = 0;  // that it covers
  };
  static AllTotals difference(const AllTotals& after, const AllTotals& before);
  std::string sentence_of(const AllTotals& totals, double total_seconds) const;
  std::string sentence_of_network(const AllTotals& totals, double total_seconds) const;
  static double network_share(const AllTotals& totals, double total_seconds);
  static std::string sentence_of_speed(const AllTotals& totals);

  std::vector<std::int64_t> ahead_;
  AllTotals totals_, reported_;
  std::deque<Reported> recent_;  // the last reports
  bool has_news_ = false;
  LinkSpeeds links_;
};

}  // namespace trireme::train
