// OarAssignment: who computes which oars of which step. It never changes a bit, only who waits for whom. All workers
// have the same one: a change follows from measurements that all of them have, and takes effect at a step that nobody
// has loaded yet.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/oar_tree.h"

namespace trireme::strategy {

struct WorkerSpeed {
  int threads = 1;           // oars that a worker computes at once
  double round_seconds = 1;  // that it takes for them
};

// Contiguous shares that are done first; among those, with the fewest sums of a worker to send, then of all.
std::vector<base::Range> assign_oars(int oars, const std::vector<WorkerSpeed>& workers);
// Seconds until the last worker is done.
double makespan(const std::vector<base::Range>& shares, const std::vector<WorkerSpeed>& workers);
// The most sums of whole subtrees that a worker has to send.
int most_partials(int oars, const std::vector<base::Range>& shares);

enum class AssignBy { even, measured, given };
struct AssignOptions {
  AssignBy by = AssignBy::measured;
  std::vector<int> oars{};  // per worker, when given
};
// "even", "measured" or "4,2,2" (oars of each worker); mistakes are user errors.
AssignOptions parse_assignment(std::string_view text, int oars, int workers);
// The same user error, before the assignment is needed.
void check_assignment(std::string_view text, int oars, int workers);

// Any thread.
class OarAssignment {
 public:
  // `ahead`: how many steps may be loaded before they are computed. The workers' threads are known at the start.
  OarAssignment(const AssignOptions& options, int oars, std::vector<int> threads, int ahead, std::int64_t first_step);

  std::vector<base::Range> shares(std::int64_t step) const;
  base::Range share(std::int64_t step, int worker) const { return shares(step)[static_cast<std::size_t>(worker)]; }
  // What a step's forward and backward took, per worker. True when later steps are shared out otherwise from now on.
  bool see(std::int64_t step, const std::vector<double>& seconds);
  // From that step on the shares are those given, or equal ones, whoever is fast; for strategies whose results depend
  // on who computes what. No step from there on is loaded yet.
  void hold(std::int64_t step);

 private:
  static constexpr int kSeen = 6;         // steps before a change; the median counts
  static constexpr double kWorth = 1.08;  // a change must make the step shorter by this factor

  AssignOptions options_;
  int oars_;
  std::vector<int> threads_;
  int ahead_;
  std::vector<std::vector<double>> seen_;  // per worker: seconds of a round in the last steps
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::vector<base::Range>> from_;  // by the step from which it holds; guarded by the mutex
};

}  // namespace trireme::strategy
