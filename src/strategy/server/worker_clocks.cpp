#include "strategy/server/worker_clocks.h"

#include <algorithm>
#include <limits>

namespace trireme::strategy {

WorkerClocks::WorkerClocks(int workers, StalenessBound bound)
    : bound_(bound), workers_(static_cast<std::size_t>(workers)) {}

void WorkerClocks::done(int worker, std::int64_t now_ns) {
  One& one = of(worker);
  if (one.last_ns > 0) one.interval_ns = now_ns - std::max(one.last_ns, one.let_go_ns);
  one.last_ns = now_ns_ = now_ns;
  ++one.clock;
}

void WorkerClocks::leave(int worker) { of(worker).is_here = false; }

std::int64_t WorkerClocks::slowest() const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const One& one : workers_)
    if (one.is_here) least = std::min(least, one.clock);
  return least == std::numeric_limits<std::int64_t>::max() ? 0 : least;
}

std::int64_t WorkerClocks::limit(int worker) {
  if (bound_.is_none()) return StalenessBound::kNone;
  One& one = of(worker);
  const std::int64_t least = slowest(), low = least + bound_.low + 1, high = least + bound_.high + 1;
  const bool waits = one.clock > 0 && one.clock >= one.limit;
  one.limit = std::max(one.limit, low);
  // Computed at most once per value of the slowest clock.
  if (bound_.moves() && one.clock >= one.limit && one.asked_at != least) {
    one.asked_at = least;
    const auto slow = std::ranges::min_element(workers_, {}, [](const One& each) {
      return each.is_here ? each.clock : std::numeric_limits<std::int64_t>::max();
    });
    const std::int64_t limit = std::min(one.clock + best_extra(one, *slow), high);
    one.extra = std::max<std::int64_t>(limit - low, 0);
    one.limit = std::max(one.limit, limit);
  }
  if (waits && one.clock < one.limit) one.let_go_ns = now_ns_;
  return one.limit;
}

// The number r of further pushes of the fast worker after which it waits the least for the slow worker's next push.
std::int64_t WorkerClocks::best_extra(const One& fast, const One& slow) const {
  if (fast.interval_ns <= 0 || slow.interval_ns <= 0) return 0;
  std::int64_t best = 0, least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t r = 0; r <= bound_.high - bound_.low; ++r) {
    const std::int64_t at = now_ns_ + r * fast.interval_ns;
    const std::int64_t since = at - slow.last_ns;
    const std::int64_t pushes = std::max<std::int64_t>((since + slow.interval_ns - 1) / slow.interval_ns, 1);
    const std::int64_t wait = pushes * slow.interval_ns - since;
    if (wait < least) {
      least = wait;
      best = r;
    }
  }
  return best;
}

}  // namespace trireme::strategy
