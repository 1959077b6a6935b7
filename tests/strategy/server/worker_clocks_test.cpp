// How far workers may go ahead, in whatever order things happen.
#include "strategy/server/worker_clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace trireme::strategy {
namespace {

// Workers that push when they may; the bound is checked against clocks that are counted here.
class Race {
 public:
  Race(int workers, StalenessBound bound, unsigned seed)
      : bound_(bound), clocks_(workers, bound), random_(seed), done_(static_cast<std::size_t>(workers)) {}

  bool may_begin(int worker) {
    const std::int64_t limit = clocks_.limit(worker);
    EXPECT_GE(limit, last_limit_.try_emplace(worker, 0).first->second) << "a limit became less";
    last_limit_[worker] = limit;
    return clocks_.clock(worker) < limit;
  }
  void push(int worker, std::int64_t now_ns) {
    const std::int64_t ahead = clocks_.clock(worker) - slowest();
    EXPECT_LE(ahead, bound_.high) << "worker " << worker;
    most_ahead_ = std::max(most_ahead_, ahead);
    clocks_.done(worker, now_ns);
    ++done_[static_cast<std::size_t>(worker)];
    EXPECT_EQ(clocks_.clock(worker), done_[static_cast<std::size_t>(worker)]);
    EXPECT_EQ(clocks_.slowest(), slowest());
  }
  void leave(int worker) {
    clocks_.leave(worker);
    done_[static_cast<std::size_t>(worker)] = StalenessBound::kNone;
  }
  // Random events; the slowest can always go on.
  void run(int events, const std::vector<double>& weights) {
    std::discrete_distribution<int> who(weights.begin(), weights.end());
    std::int64_t now = 1;
    for (int i = 0; i < events; ++i) {
      now += 1 + static_cast<std::int64_t>(random_() % 100);
      const int worker = who(random_);
      if (done_[static_cast<std::size_t>(worker)] == StalenessBound::kNone) continue;
      if (may_begin(worker)) push(worker, now);
      const auto least = std::ranges::min_element(done_) - done_.begin();
      EXPECT_TRUE(may_begin(static_cast<int>(least))) << "the slowest has to wait";
    }
  }
  std::int64_t most_ahead() const { return most_ahead_; }
  WorkerClocks& clocks() { return clocks_; }

 private:
  std::int64_t slowest() const { return *std::ranges::min_element(done_); }

  StalenessBound bound_;
  WorkerClocks clocks_;
  std::mt19937 random_;
  std::vector<std::int64_t> done_;  // kNone: has left
  std::map<int, std::int64_t> last_limit_;
  std::int64_t most_ahead_ = 0;
};

TEST(WorkerClocks, NobodyExceedsTheBoundInWhateverOrder) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const int workers = 1 + static_cast<int>(seed % 5);
    const std::int64_t low = seed % 4;
    std::vector<double> weights;
    for (int w = 0; w < workers; ++w) weights.push_back(w == 0 ? 1 : 1 + seed % 30);
    Race fixed(workers, {low, low}, seed), dynamic(workers, {low, low + 6}, seed);
    fixed.run(300, weights);
    dynamic.run(300, weights);
    EXPECT_EQ(fixed.clocks().extra(0), 0);
    if (workers > 1 && weights[1] > 10) {
      EXPECT_EQ(fixed.most_ahead(), low) << "fast ones do go ahead";
    }
  }
}

TEST(WorkerClocks, WithoutABoundNobodyWaits) {
  Race race(2, {}, 1);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(race.may_begin(1));
    race.push(1, i + 1);
  }
  EXPECT_EQ(race.clocks().slowest(), 0);
}

TEST(WorkerClocks, ZeroIsOneStepAfterTheOther) {
  WorkerClocks clocks(3, {0, 0});
  for (int round = 0; round < 5; ++round)
    for (int worker = 0; worker < 3; ++worker) {
      EXPECT_LT(clocks.clock(worker), clocks.limit(worker));
      clocks.done(worker, 10 * round + worker + 1);
      if (worker < 2) {
        EXPECT_EQ(clocks.clock(worker), clocks.limit(worker)) << "it waits for the others";
      }
    }
}

TEST(WorkerClocks, NobodyWaitsForOneThatHasLeft) {
  WorkerClocks clocks(3, {1, 1});
  for (int i = 0; i < 2; ++i) {
    clocks.done(0, i + 1);
    clocks.done(1, i + 1);
  }
  EXPECT_EQ(clocks.limit(0), 2) << "worker 2 has not begun";
  clocks.leave(2);
  EXPECT_EQ(clocks.slowest(), 2);
  EXPECT_EQ(clocks.limit(0), 4);
  clocks.leave(1);
  clocks.done(0, 5);
  EXPECT_EQ(clocks.limit(0), 5);
  clocks.leave(0);
  EXPECT_EQ(clocks.limit(0), 5) << "never less than before";
}

TEST(WorkerClocks, RandomOnesLeave) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Race race(4, {1, 1 + seed % 3}, seed);
    race.run(100, {1, 2, 3, 4});
    race.leave(0);
    race.run(100, {0, 1, 2, 30});
    race.leave(2);
    race.run(100, {0, 1, 0, 30});
  }
}

// A worker three times as fast as the other, in virtual time: it is let beyond the lower bound; equal ones are not far.
std::int64_t furthest(std::int64_t slow_ns, std::int64_t fast_ns, StalenessBound bound, std::int64_t* extra) {
  WorkerClocks clocks(2, bound);
  std::int64_t slow_at = slow_ns, fast_at = fast_ns, most = 0;
  bool fast_rows = true;
  for (int i = 0; i < 400; ++i) {
    if (fast_rows && fast_at <= slow_at) {
      clocks.done(1, fast_at);
      most = std::max(most, clocks.clock(1) - clocks.clock(0));
      fast_rows = false;
    } else {
      clocks.done(0, slow_at);
      slow_at += slow_ns;
    }
    if (!fast_rows && clocks.clock(1) < clocks.limit(1)) {
      fast_rows = true;
      fast_at = std::max(fast_at, clocks.clock(1) == 0 ? 0 : slow_at - slow_ns) + fast_ns;
    }
    *extra = std::max(*extra, clocks.extra(1));
  }
  return most;
}

TEST(WorkerClocks, TheDynamicBoundMovesWhenSpeedsDiffer) {
  std::int64_t extra = 0;
  const std::int64_t most = furthest(1000, 290, {2, 10}, &extra);
  EXPECT_GT(extra, 0);
  EXPECT_LE(extra, 8);
  EXPECT_GT(most, 3) << "more than the lower bound alone allows: one push more than that is under way";
  EXPECT_LE(most, 11);
  extra = 0;
  EXPECT_LE(furthest(1000, 290, {2, 2}, &extra), 3);
  EXPECT_EQ(extra, 0) << "a bound that does not move";
}

}  // namespace
}  // namespace trireme::strategy
