// The coordinator as the helm uses it, with workers that ask, compute and push in random orders: every share is
// computed once, nobody waits forever, and nobody is ahead of the slowest by more than the bound allows.
#include "train/helm/coordinator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "base/index.h"

namespace trireme::train {
namespace {

using strategy::StalenessBound;

using base::at;

PushMessage push_of(int worker, const Coordinator::Share& share) {
  const auto samples = static_cast<double>(share.oars.size());
  PushMessage push{.pusher = worker, .step = share.step + 1};
  push.sums = {.loss = 2 * samples, .correct = 1, .samples = samples, .penalty = 0.25, .lr = 0.1};
  push.notes = {{{.load = 1, .forward = 2, .backward = 3, .update = 4, .network = 5, .hidden = 6}, 0, false}};
  return push;
}

// Workers that load one share ahead of the one that they compute, as the real ones do.
class Workers {
 public:
  Workers(int count, int oars, std::int64_t from, std::int64_t to, StalenessBound bound, unsigned seed)
      : bound_(bound), from_(from), to_(to), coordinator_(count, oars, from, to, bound), random_(seed) {
    all_.resize(at(count));
  }

  // Who has more weight is faster.
  void run(const std::vector<double>& weights, std::int64_t stop_after = -1, bool lost = false,
           std::int64_t lost_after = -1) {
    std::discrete_distribution<int> who(weights.begin(), weights.end());
    int in_vain = 0;
    while (!is_over()) {
      if (pushes_ == stop_after) coordinator_.stop();
      if (pushes_ >= lost_after && lost) {
        lose_last();
        lost = false;
      }
      const int worker = who(random_);
      if (at(worker) >= all_.size()) continue;
      in_vain = act(worker) ? 0 : in_vain + 1;
      ASSERT_LT(in_vain, 10000) << "nobody can go on after " << pushes_ << " pushes";
    }
  }
  void expect_every_share_once(int oars) const {
    std::map<std::int64_t, std::int64_t> of_step;
    for (const auto& [share, times] : computed_) {
      EXPECT_EQ(times, 1) << "step " << share.first << " from oar " << share.second;
      of_step[share.first] += sizes_.at(share);
    }
    for (std::int64_t step = from_; step < coordinator_.steps_done() + from_; ++step) EXPECT_EQ(of_step[step], oars);
    EXPECT_EQ(static_cast<std::int64_t>(of_step.size()), coordinator_.steps_done());
    EXPECT_EQ(static_cast<std::int64_t>(steps_.size()), coordinator_.steps_done());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      EXPECT_EQ(steps_[i].step, from_ + static_cast<std::int64_t>(i) + 1) << "steps come out in order";
      EXPECT_DOUBLE_EQ(steps_[i].sums.samples, oars);
      EXPECT_DOUBLE_EQ(steps_[i].sums.loss, 2 * oars);
      EXPECT_DOUBLE_EQ(steps_[i].sums.penalty, 0.25);
      EXPECT_DOUBLE_EQ(steps_[i].sums.lr, 0.1);
      EXPECT_DOUBLE_EQ(steps_[i].seconds.hidden, 6) << "the mean over pushes";
    }
    std::int64_t seen = 0;
    for (const auto& [pushes, count] : coordinator_.staleness()) seen += count;
    EXPECT_EQ(seen, pushes_);
  }
  Coordinator& coordinator() { return coordinator_; }
  std::int64_t most_ahead() const { return most_ahead_; }
  std::int64_t pushes() const { return pushes_; }

 private:
  struct One {
    std::vector<Coordinator::Share> loaded;
    bool is_computing = false, was_told = false;
    std::int64_t clock = 0;
    bool is_done() const { return was_told && loaded.empty(); }
  };

  bool is_over() const {
    return std::ranges::all_of(all_, [](const One& one) { return one.is_done(); });
  }
  // The last one is gone; the others begin again with nothing in hand.
  void lose_last() {
    all_.assign(all_.size() - 1, {});
    coordinator_.begin_again(static_cast<int>(all_.size()));
  }
  // One of the things that a worker can do next, if it can do anything.
  bool act(int worker) {
    One& one = all_[at(worker)];
    if (one.is_done()) return false;
    const bool asks = !one.was_told && one.loaded.size() < 2 && (one.loaded.empty() || random_() % 2 == 0);
    if (asks) {
      const Coordinator::Share share = coordinator_.hand_out(worker);
      if (share.step < 0) {
        one.was_told = true;
        coordinator_.leave(worker);
      } else {
        EXPECT_TRUE(share.step >= from_ && share.step < to_) << share.step;
        sizes_[{share.step, share.oars.begin}] = share.oars.size();
        one.loaded.push_back(share);
      }
      return true;
    }
    if (one.loaded.empty()) return false;
    if (!one.is_computing) {
      if (one.clock >= coordinator_.clocks().limit(worker)) return false;
      see_how_far_ahead(one);
      return one.is_computing = true;
    }
    one.is_computing = false;
    ++one.clock;
    ++pushes_;
    ++computed_[{one.loaded.front().step, one.loaded.front().oars.begin}];
    now_ns_ += 1 + static_cast<std::int64_t>(random_() % 1000);
    for (const auto& step : coordinator_.done(push_of(worker, one.loaded.front()), now_ns_)) steps_.push_back(step);
    one.loaded.erase(one.loaded.begin());
    return true;
  }
  // Of those who have not computed their last.
  void see_how_far_ahead(const One& one) {
    std::int64_t slowest = one.clock;
    for (const One& other : all_)
      if (!other.is_done()) slowest = std::min(slowest, other.clock);
    most_ahead_ = std::max(most_ahead_, one.clock - slowest);
    EXPECT_LE(one.clock - slowest, bound_.high);
  }

  StalenessBound bound_;
  std::int64_t from_, to_;
  Coordinator coordinator_;
  std::mt19937 random_;
  std::vector<One> all_;
  std::map<std::pair<std::int64_t, std::int64_t>, int> computed_;  // by step and first oar
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sizes_;
  std::vector<Coordinator::Step> steps_;
  std::int64_t pushes_ = 0, most_ahead_ = 0, now_ns_ = 1;
};

TEST(Coordinator, HandsEveryShareOutOnceInWhateverOrder) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const int count = 1 + static_cast<int>(seed % 5), oars = count + static_cast<int>(seed % 7);
    const std::int64_t from = seed % 3 * 10, steps = 1 + seed % 9;
    const auto low = static_cast<std::int64_t>(seed % 4);
    const StalenessBound bound = seed % 3 == 0   ? StalenessBound{}
                                 : seed % 3 == 1 ? StalenessBound{low, low}
                                                 : StalenessBound{low, low + 5};
    Workers workers(count, oars, from, from + steps, bound, seed);
    std::vector<double> weights(at(count), 1.0);
    weights[0] = seed % 2 == 0 ? 20 : 0.2;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    workers.run(weights);
    if (testing::Test::HasFatalFailure()) return;
    workers.expect_every_share_once(oars);
    EXPECT_EQ(workers.coordinator().steps_done(), steps);
  }
}

TEST(Coordinator, StopLeavesWholeSteps) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Workers workers(3, 8, 5, 25, seed % 2 == 0 ? StalenessBound{} : StalenessBound{1, 1}, seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    workers.run({1, 5, 1}, seed % 40);
    if (testing::Test::HasFatalFailure()) return;
    workers.expect_every_share_once(8);
    EXPECT_EQ(workers.pushes(), 3 * workers.coordinator().steps_done()) << "no step is half done";
    EXPECT_LE(workers.pushes(), seed % 40 + 3 + 3 * 2) << "those that were in hand, to the end of their step";
  }
}

TEST(Coordinator, WhoIsSlowIsNotLeftBehindByMoreThanTheBound) {
  std::int64_t most = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    Workers workers(3, 8, 0, 20, {2, 2}, seed);
    workers.run({100, 100, 1});
    if (testing::Test::HasFatalFailure()) return;
    most = std::max(most, workers.most_ahead());
  }
  EXPECT_EQ(most, 2) << "and fast ones do go ahead";
}

TEST(Coordinator, WhatALostWorkerHadIsHandedOutAgain) {
  Coordinator coordinator(2, 8, 0, 2, StalenessBound{0, 0});
  const auto first = coordinator.hand_out(0), second = coordinator.hand_out(0);
  EXPECT_EQ(coordinator.clocks().limit(1), 1);
  coordinator.begin_again(1);
  std::set<std::pair<std::int64_t, std::int64_t>> computed;
  for (;;) {
    const auto share = coordinator.hand_out(0);
    if (share.step < 0) break;
    EXPECT_GT(coordinator.clocks().limit(0), coordinator.clocks().clock(0)) << "nobody waits for one that is lost";
    EXPECT_EQ(coordinator.in_hand(0).oars, share.oars);
    EXPECT_TRUE(computed.insert({share.step, share.oars.begin}).second);
    coordinator.done(push_of(0, share), 1);
  }
  EXPECT_EQ(computed.size(), 4u) << "a batch is still cut for two";
  EXPECT_TRUE(computed.contains({first.step, first.oars.begin}) && computed.contains({second.step, second.oars.begin}));
  EXPECT_EQ(coordinator.steps_done(), 2);
}

TEST(Coordinator, EveryShareIsComputedOnceAlsoWithoutALostWorker) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Workers workers(3, 8, 0, 12, seed % 2 == 0 ? StalenessBound{} : StalenessBound{1, 1}, seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    workers.run({1, 2, 3}, -1, true, seed % 30);
    if (testing::Test::HasFatalFailure()) return;
    workers.expect_every_share_once(8);
    EXPECT_EQ(workers.coordinator().steps_done(), 12);
  }
}

TEST(Coordinator, StalenessCountsThePushesOfOthersBetween) {
  Coordinator coordinator(3, 3, 0, 2, StalenessBound{});
  std::map<int, std::vector<Coordinator::Share>> has;
  for (int worker = 0; worker < 3; ++worker)
    for (int i = 0; i < 2; ++i) has[worker].push_back(coordinator.hand_out(worker));
  const auto push = [&](int worker) {
    coordinator.done(push_of(worker, has[worker].front()), 1);
    has[worker].erase(has[worker].begin());
  };
  push(0);  // 0
  push(0);  // 0: nobody came between
  push(1);  // 2
  push(2);  // 3
  push(2);  // 0
  push(1);  // 2
  EXPECT_EQ(coordinator.staleness(), (std::map<std::int64_t, std::int64_t>{{0, 3}, {2, 2}, {3, 1}}));
}

TEST(Coordinator, OfSharesWithoutOars) {
  Coordinator coordinator(3, 2, 0, 1, StalenessBound{});
  std::int64_t oars = 0;
  for (int worker = 0; worker < 3; ++worker) oars += coordinator.hand_out(worker).oars.size();
  EXPECT_EQ(oars, 2);
}

}  // namespace
}  // namespace trireme::train
