// Who computes which oars: the best shares against all that there are, and changes that all workers make alike.
#include "strategy/common/oar_assignment.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <tuple>

#include "base/error.h"

namespace trireme::strategy {
namespace {

using Shares = std::vector<base::Range>;

int partials_of(int oars, const base::Range& share) {
  return share.empty() ? 0 : static_cast<int>(base::oar_partials(oars, share).size());
}

// Seconds until all are done, most partials of a worker, partials of all.
std::tuple<double, int, int> quality(int oars, const Shares& shares, const std::vector<WorkerSpeed>& workers) {
  double last = 0;
  int most = 0, sum = 0;
  for (std::size_t w = 0; w < shares.size(); ++w) {
    std::int64_t rounds = 0;
    for (std::int64_t computed = 0; computed < shares[w].size(); computed += workers[w].threads) ++rounds;
    last = std::max(last, static_cast<double>(rounds) * workers[w].round_seconds);
    most = std::max(most, partials_of(oars, shares[w]));
    sum += partials_of(oars, shares[w]);
  }
  return {last, most, sum};
}

void for_all_shares(int oars, std::size_t workers, const std::function<void(const Shares&)>& f, Shares so_far = {}) {
  const std::int64_t begin = so_far.empty() ? 0 : so_far.back().end;
  if (so_far.size() + 1 == workers) {
    so_far.push_back({begin, oars});
    return f(so_far);
  }
  for (std::int64_t end = begin; end <= oars; ++end) {
    Shares more = so_far;
    more.push_back({begin, end});
    for_all_shares(oars, workers, f, more);
  }
}

void expect_whole(int oars, const Shares& shares) {
  std::int64_t next = 0;
  for (const base::Range& share : shares) {
    EXPECT_EQ(share.begin, next);
    EXPECT_GE(share.size(), 0);
    next = share.end;
  }
  EXPECT_EQ(next, oars);
}

TEST(AssignOars, AreTheBestOfAllWays) {
  std::mt19937 random(1);
  for (int test = 0; test < 400; ++test) {
    const int oars = 1 + static_cast<int>(random() % 12);
    const std::size_t count = 1 + random() % 4;
    std::vector<WorkerSpeed> workers;
    for (std::size_t w = 0; w < count; ++w)
      workers.push_back({1 + static_cast<int>(random() % 3), test % 2 == 0
                                                                 ? 1 + static_cast<double>(random() % 4)
                                                                 : 0.1 + 1e-9 * static_cast<double>(random())});
    const Shares chosen = assign_oars(oars, workers);
    ASSERT_EQ(chosen.size(), count);
    expect_whole(oars, chosen);
    auto best = quality(oars, chosen, workers);
    for_all_shares(oars, count, [&](const Shares& shares) { best = std::min(best, quality(oars, shares, workers)); });
    EXPECT_EQ(quality(oars, chosen, workers), best) << oars << " oars, " << count << " workers, test " << test;
    EXPECT_EQ(makespan(chosen, workers), std::get<0>(best));
    EXPECT_EQ(most_partials(oars, chosen), std::get<1>(best));
  }
}

TEST(AssignOars, OfEqualWorkersAreEqualWhereTheyCanBe) {
  EXPECT_EQ(assign_oars(8, {{1, 1}, {1, 1}}), (Shares{{0, 4}, {4, 8}}));
  EXPECT_EQ(assign_oars(8, {{2, 1}, {2, 1}, {2, 1}, {2, 1}}), (Shares{{0, 2}, {2, 4}, {4, 6}, {6, 8}}));
  EXPECT_EQ(assign_oars(4, {{1, 1}, {3, 1}}), (Shares{{0, 1}, {1, 4}}));
  EXPECT_EQ(assign_oars(1, {{1, 1}}), (Shares{{0, 1}}));
}

TEST(AssignOars, LargeOnesTakeNoTime) {
  std::vector<WorkerSpeed> workers;
  for (int w = 0; w < 32; ++w) workers.push_back({1 + w % 4, 1 + 0.01 * w});
  const Shares shares = assign_oars(256, workers);
  expect_whole(256, shares);
}

TEST(ParseAssignment, FormsAndMistakes) {
  EXPECT_EQ(parse_assignment("even", 8, 3).by, AssignBy::even);
  EXPECT_EQ(parse_assignment("measured", 8, 3).by, AssignBy::measured);
  EXPECT_EQ(parse_assignment("5,1,2", 8, 3).oars, (std::vector<int>{5, 1, 2}));
  EXPECT_EQ(parse_assignment("0,8,0", 8, 3).oars, (std::vector<int>{0, 8, 0}));
  for (const char* text : {"", "evn", "4,4", "4,2,1", "4,2,3", "4,2,2,0", "4,-1,5", "4,2,x", "4,,4", "4,2,2,",
                           "99999999999,1,1", "2147483647,1,1"})
    EXPECT_THROW(parse_assignment(text, 8, 3), base::Error) << text;
}

// Workers whose rounds take these seconds, on average, with some noise.
std::vector<double> seconds_of(const Shares& shares, const std::vector<double>& round, std::mt19937& random) {
  std::vector<double> seconds;
  std::uniform_real_distribution<double> noise(0.97, 1.03);
  for (std::size_t w = 0; w < shares.size(); ++w)
    seconds.push_back(static_cast<double>(shares[w].size()) * round[w] * noise(random));
  return seconds;
}

TEST(OarAssignment, ChangesForStepsThatNobodyHasLoaded) {
  constexpr int kAhead = 4;
  OarAssignment assignment({}, 8, {1, 1}, kAhead, 0);
  std::mt19937 random(3);
  const Shares even{{0, 4}, {4, 8}};
  EXPECT_EQ(assignment.shares(1), even);
  int changes = 0;
  std::vector<Shares> promised;  // what a loader has been told, by step
  for (std::int64_t step = 1; step <= 60; ++step) {
    while (static_cast<std::int64_t>(promised.size()) <= step + kAhead)
      promised.push_back(assignment.shares(static_cast<std::int64_t>(promised.size())));
    const Shares now = assignment.shares(step);
    ASSERT_EQ(now, promised[static_cast<std::size_t>(step)]) << "step " << step << " was loaded otherwise";
    const bool changes_now = assignment.see(step, seconds_of(now, {0.01, 0.03}, random));
    EXPECT_FALSE(changes_now && step < 6) << "after " << step << " steps";
    if (!changes_now) continue;
    ++changes;
    EXPECT_EQ(assignment.shares(step + kAhead), promised[static_cast<std::size_t>(step + kAhead)]);
    EXPECT_NE(assignment.shares(step + kAhead + 1), now);
  }
  EXPECT_EQ(changes, 1) << "and then it stays";
  EXPECT_EQ(assignment.shares(60), (Shares{{0, 6}, {6, 8}}));
}

TEST(OarAssignment, NoiseAndOneSlowStepChangeNothing) {
  OarAssignment assignment({}, 8, {1, 1}, 4, 0);
  std::mt19937 random(4);
  for (std::int64_t step = 1; step <= 100; ++step) {
    std::vector<double> seconds = seconds_of(assignment.shares(step), {0.01, 0.01}, random);
    if (step % 9 == 0) seconds[1] *= 10;
    EXPECT_FALSE(assignment.see(step, seconds)) << step;
  }
}

TEST(OarAssignment, FollowsWhenAnotherBecomesSlow) {
  OarAssignment assignment({}, 8, {1, 1}, 2, 0);
  std::mt19937 random(5);
  for (std::int64_t step = 1; step <= 200; ++step) {
    const bool first_is_slow = step <= 100;
    assignment.see(
        step, seconds_of(assignment.shares(step), {first_is_slow ? 0.03 : 0.01, first_is_slow ? 0.01 : 0.03}, random));
    if (step == 100) {
      EXPECT_EQ(assignment.shares(step), (Shares{{0, 2}, {2, 8}}));
    }
  }
  EXPECT_EQ(assignment.shares(200), (Shares{{0, 6}, {6, 8}}));
}

TEST(OarAssignment, GivenAndEvenOnesStay) {
  OarAssignment given({AssignBy::given, {5, 1, 2}}, 8, {1, 1, 1}, 2, 0), even({AssignBy::even, {}}, 9, {1, 1, 1}, 2, 0);
  for (std::int64_t step = 1; step <= 20; ++step) {
    EXPECT_FALSE(given.see(step, {1, 1, 100}));
    EXPECT_FALSE(even.see(step, {1, 1, 100}));
  }
  EXPECT_EQ(given.shares(21), (Shares{{0, 5}, {5, 6}, {6, 8}}));
  EXPECT_EQ(even.shares(21), (Shares{{0, 3}, {3, 6}, {6, 9}}));
  EXPECT_EQ(given.share(3, 2), (base::Range{6, 8}));
}

// They follow from the same numbers; loaders read them meanwhile.
TEST(OarAssignment, IsTheSameOnAllWorkers) {
  std::vector<std::unique_ptr<OarAssignment>> all;
  for (int w = 0; w < 3; ++w)
    all.push_back(std::make_unique<OarAssignment>(AssignOptions{}, 16, std::vector{1, 2, 1}, 4, 0));
  std::atomic<bool> stop{false};
  std::thread loader([&] {
    for (std::int64_t step = 1; !stop; step = step % 100 + 1) EXPECT_EQ(all[1]->shares(step).size(), 3u);
  });
  std::mt19937 random(6);
  for (std::int64_t step = 1; step <= 100; ++step) {
    const std::vector<double> seconds =
        seconds_of(all[0]->shares(step), {0.01 * static_cast<double>(1 + step / 30), 0.01, 0.02}, random);
    for (const auto& each : all) {
      each->see(step, seconds);
      EXPECT_EQ(each->shares(step + 7), all[0]->shares(step + 7));
    }
  }
  stop = true;
  loader.join();
}

}  // namespace
}  // namespace trireme::strategy
