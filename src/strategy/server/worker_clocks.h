// WorkerClocks: how far the workers of an asynchronous interval have come, and how far each may go ahead of the
// slowest: as far as it likes (async), a fixed number of pushes (stale-synchronous parallel), or a number between two
// bounds that follows from measured times (dynamic stale-synchronous parallel, after Zhao et al., 2019): a worker that
// reaches the lower bound may make as many further pushes, up to the upper bound, as will let it wait the least for the
// slowest.
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

  // A worker's push is done, at that time.
  void done(int worker, std::int64_t now_ns);
  // It takes no further part: nobody waits for it.
  void leave(int worker);

  std::int64_t clock(int worker) const { return of(worker).clock; }
  std::int64_t slowest() const;  // of those that take part
  // The first clock that a worker may not begin yet; never less than before.
  std::int64_t limit(int worker);
  // How far beyond the lower bound a worker was last let.
  std::int64_t extra(int worker) const { return of(worker).extra; }

 private:
  struct One {
    std::int64_t clock = 0;                   // pushes done
    std::int64_t last_ns = 0, let_go_ns = 0;  // when it pushed, and when it could go on after waiting
    std::int64_t interval_ns = 0;             // of a push, without waiting
    std::int64_t extra = 0;                   // pushes beyond the lower bound that it was last given
    std::int64_t asked_at = -1;               // the slowest clock at that time
    std::int64_t limit = 0;
    bool is_here = true;
  };
  const One& of(int worker) const { return workers_[static_cast<std::size_t>(worker)]; }
  One& of(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  std::int64_t best_extra(const One& fast, const One& slow) const;

  StalenessBound bound_;
  std::int64_t now_ns_ = 0;  // of the last push
  std::vector<One> workers_;
};

}  // namespace trireme::strategy
