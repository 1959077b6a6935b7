// WorkerClocks: counts the pushes of each worker of an asynchronous interval and limits its lead over the slowest.
// One caller at a time.
//
// The lead is unlimited (async), a fixed number of pushes (stale-synchronous parallel, ssp), or between two bounds
// (dynamic stale-synchronous parallel, dssp, after Zhao et al., 2019). With dssp, a worker that reaches the lower bound
// gets as many further pushes, up to the upper bound, as minimise its predicted wait for the slowest worker.
#pragma once

#include <cstdint>
#include <vector>

namespace trireme::strategy {

struct StalenessBound {
  static constexpr std::int64_t kNone = std::int64_t{1} << 40;
  std::int64_t low = kNone, high = kNone;

  bool is_none() const { return low == kNone; }
  bool moves() const { return low != high; }
};

class WorkerClocks {
 public:
  WorkerClocks(int workers, StalenessBound bound);

  // A worker's push was completed at `now_ns`.
  void done(int worker, std::int64_t now_ns);
  // The worker takes no further part; the others do not wait for it any more.
  void leave(int worker);

  std::int64_t clock(int worker) const { return of(worker).clock; }
  std::int64_t slowest() const;  // the least clock of the workers that take part
  // The first clock that the worker may not begin yet. It never decreases.
  std::int64_t limit(int worker);
  // The pushes beyond the lower bound that the worker was last granted.
  std::int64_t extra(int worker) const { return of(worker).extra; }

 private:
  struct One {
    std::int64_t clock = 0;                   // pushes done
    std::int64_t last_ns = 0, let_go_ns = 0;  // the last push; the end of its last wait
    std::int64_t interval_ns = 0;             // time between its last two pushes, without waiting
    std::int64_t extra = 0;                   // pushes beyond the lower bound that it was last granted
    std::int64_t asked_at = -1;               // the slowest clock when `extra` was computed
    std::int64_t limit = 0;
    bool is_here = true;
  };
  const One& of(int worker) const { return workers_[static_cast<std::size_t>(worker)]; }
  One& of(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  std::int64_t best_extra(const One& fast, const One& slow) const;

  StalenessBound bound_;
  std::int64_t now_ns_ = 0;  // time of the last push of any worker
  std::vector<One> workers_;
};

}  // namespace trireme::strategy
