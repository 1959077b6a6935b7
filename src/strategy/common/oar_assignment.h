// OarAssignment: which worker computes which oars of each step.
// shares() and share() are thread-safe; see() and hold() have one caller at a time.
//
// The assignment never changes a bit of the result, only who waits for whom. It is the same on all workers: they
// compute each change from the same measurements, and it takes effect at a step that no worker has loaded yet.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/oar_tree.h"

namespace trireme::strategy {

struct WorkerSpeed {
  int threads = 1;           // oars that a worker computes at the same time: one round
  double round_seconds = 1;  // duration of a round
};

// The contiguous shares with the least makespan; among those, with the smallest maximum of partials of any worker; then
// with the fewest partials in total.
std::vector<base::Range> assign_oars(int oars, const std::vector<WorkerSpeed>& workers);
// Seconds until the slowest worker is done.
double makespan(const std::vector<base::Range>& shares, const std::vector<WorkerSpeed>& workers);
// The largest number of partials (sums of whole subtrees) that any worker has to send.
int most_partials(int oars, const std::vector<base::Range>& shares);

enum class AssignBy { even, measured, given };
struct AssignOptions {
  AssignBy by = AssignBy::measured;
  std::vector<int> oars{};  // per worker, when given
};
// "even", "measured" or "4,2,2" (oars of each worker); mistakes are user errors.
AssignOptions parse_assignment(std::string_view text, int oars, int workers);
// Throws the same user errors, before the assignment is needed.
void check_assignment(std::string_view text, int oars, int workers);

class OarAssignment {
 public:
  // `threads`: of each worker. `ahead`: how many steps may be loaded before they are computed.
  OarAssignment(const AssignOptions& options, int oars, std::vector<int> threads, int ahead, std::int64_t first_step);

  std::vector<base::Range> shares(std::int64_t step) const;
  base::Range share(std::int64_t step, int worker) const { return shares(step)[static_cast<std::size_t>(worker)]; }
  // Takes the seconds of a step's forward and backward, per worker. True when this changes the shares of later steps.
  bool see(std::int64_t step, const std::vector<double>& seconds);
  // From this step on the shares are fixed: those given by the user, or even ones, regardless of speed. For strategies
  // whose results depend on who computes which oars. REQUIRES: no step from `step` on is loaded yet.
  void hold(std::int64_t step);

 private:
  static constexpr int kSeen = 6;         // steps measured before a change; their median counts
  static constexpr double kWorth = 1.08;  // a change must make the step shorter by this factor

  AssignOptions options_;
  int oars_;
  std::vector<int> threads_;
  int ahead_;
  std::vector<std::vector<double>> seen_;  // per worker: seconds per round of the last steps
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::vector<base::Range>> from_;  // shares by their first step; guarded by the mutex
};

}  // namespace trireme::strategy
