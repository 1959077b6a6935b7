// Replicas that go apart and are averaged: what the average is follows from mathematics, and it has the same bits
// whoever adds and whatever carries it.
#include "strategy/local/local.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "comm/worlds.h"
#include "strategy/cluster.h"

namespace trireme::strategy {
namespace {

constexpr const char* kPlainSgd = "sgd:lr=0.1,momentum=0";
constexpr const char* kMomentum = "sgd:lr=0.1,momentum=0.9";

// After each step, and after the interval.
struct Look {
  std::string hash;
  std::vector<std::vector<float>> state;
  std::vector<float> weights;
  friend bool operator==(const Look&, const Look&) = default;
};
struct Log {
  std::vector<Look> looks;
  std::vector<double> numbers;
  std::int64_t synchronisations = 0;
};

class Bench {
 public:
  explicit Bench(const support::Network& net) {
    for (int w = 0; w < 4; ++w) test_workers_.push_back(std::make_unique<TestWorker>(net, 1 + w % 2));
  }
  TestWorker& test_worker(int worker) { return *test_workers_[static_cast<std::size_t>(worker)]; }

  Look look(int worker) {
    Outcome now = test_worker(worker).outcome(true);
    const crew::Crew& crew = test_worker(worker).run().crew();
    return {now.hash, now.state, {crew.weights(), crew.weights() + crew.space().trained_floats()}};
  }

  std::vector<Log> run(const RoleMap& roles, const Training& training, const std::vector<int>& oars,
                       const LocalOptions& options, const std::string& transport = "inproc") {
    for (int w = 0; w < roles.workers; ++w) test_worker(w).start(training, oars);
    std::vector<comm::Group> groups = comm::make_groups(transport, roles.world());
    std::vector<Log> logs(static_cast<std::size_t>(roles.workers));
    const auto floats = static_cast<std::size_t>(test_worker(0).run().crew().space().floats());
    const auto errors = run_cluster(
        groups, roles,
        [&](comm::Group& group, int w) {
          Log& log = logs[static_cast<std::size_t>(w)];
          WorkerContext worker = test_worker(w).worker(group, roles, w);
          std::shared_ptr<const comm::SharedWindow> window;
          if (transport != "inproc" && roles.servers == 0) {
            window = group.allocate(floats * sizeof(float));
            worker.gradients = {reinterpret_cast<float*>(window->own().data()), floats};
          }
          const auto strategy = make_local(worker, options);
          for (std::int64_t i = 0; i < test_worker(w).all_steps(); ++i) {
            test_worker(w).steps(*strategy, worker, i, i + 1);
            log.looks.push_back(look(w));
          }
          strategy->end_interval();
          log.looks.push_back(look(w));
          log.synchronisations = strategy->take_synchronisations();
          log.numbers = test_worker(w).outcome(false).numbers;
        },
        [&](comm::Group& group, int k) {
          Server server(group, roles, k, optim::make_optimizer(training.optimizer), training.max_norm);
          server.serve({true, true})->run();
        });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
    return logs;
  }

 private:
  std::vector<std::unique_ptr<TestWorker>> test_workers_;
};

std::vector<int> even(int workers) { return std::vector<int>(static_cast<std::size_t>(workers), kOars / workers); }

void expect_near(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << i;
}

bool all_equal(const std::vector<Log>& logs, std::size_t when) {
  return std::ranges::all_of(logs, [&](const Log& log) { return log.looks[when] == logs[0].looks[when]; });
}
bool same_weights(const std::vector<Log>& logs, std::size_t when) {
  return std::ranges::all_of(logs, [&](const Log& log) { return log.looks[when].hash == logs[0].looks[when].hash; });
}

class Local : public testing::Test {
 protected:
  Bench bench{support::small_residual()};
  Training training{kMomentum, 0, {kBatch, kBatch, kBatch, kBatch, kBatch}};
};

// The mean of updates is the update of the mean, as long as the update is linear.
TEST_F(Local, EveryStepOfPlainSgdIsASynchronousStep) {
  training.optimizer = kPlainSgd;
  run_single(bench.test_worker(0), training);
  const Look single = bench.look(0);
  const std::vector<double> numbers = bench.test_worker(0).outcome(false).numbers;
  for (const int workers : {1, 2, 4}) {
    const auto logs = bench.run({workers, 0, false}, training, even(workers), {.every = 1});
    expect_near(logs[0].looks.back().weights, single.weights, 1e-5);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(logs[0].numbers[i], numbers[i], 1e-4 * (1 + std::abs(numbers[i])));
    EXPECT_EQ(logs[0].synchronisations, 5);
  }
}

TEST_F(Local, ReplicasAreEqualAfterEveryAverageAndAtTheEnd) {
  for (const int workers : {2, 4}) {
    const auto logs = bench.run({workers, 0, false}, training, even(workers), {.every = 2});
    for (const std::size_t apart : {0u, 2u, 4u}) EXPECT_FALSE(same_weights(logs, apart)) << apart;
    for (const std::size_t together : {1u, 3u, 5u}) EXPECT_TRUE(all_equal(logs, together)) << together;
    EXPECT_EQ(logs[0].synchronisations, 3);
    for (const Log& log : logs) EXPECT_EQ(log.numbers, logs[0].numbers) << "all know the whole step";
  }
}

TEST_F(Local, TheAverageIsTheMean) {
  const auto apart = bench.run({4, 0, false}, training, even(4), {.every = 100});
  const auto together = bench.run({4, 0, false}, training, even(4), {.every = 5});
  for (std::size_t i = 0; i < together[0].looks[4].weights.size(); ++i) {
    const auto of = [&](std::size_t w) { return apart[w].looks[4].weights[i]; };
    ASSERT_EQ(together[0].looks[4].weights[i], ((of(0) + of(1)) + (of(2) + of(3))) * 0.25f) << i;
    ASSERT_EQ(together[0].looks[4].weights[i], apart[0].looks[5].weights[i]) << "at the end of the interval too";
  }
}

TEST_F(Local, HasTheSameBitsWhoeverAddsAndWhateverCarriesIt) {
  const LocalOptions options{.every = 2};
  const auto expected = bench.run({4, 0, false}, training, even(4), options);
  const auto expect = [&](const std::vector<Log>& logs) {
    for (std::size_t w = 0; w < logs.size(); ++w) {
      EXPECT_EQ(logs[w].looks, expected[w].looks) << "worker " << w;
      EXPECT_EQ(logs[w].numbers, expected[w].numbers) << "worker " << w;
    }
  };
  for (const char* transport : {"shm", "tcp"}) {
    SCOPED_TRACE(transport);
    expect(bench.run({4, 0, false}, training, even(4), options, transport));
  }
  for (const RoleMap& roles : {RoleMap{4, 1, true}, RoleMap{4, 3, false}}) {
    SCOPED_TRACE(fmt::format("{} servers", roles.servers));
    LocalOptions by_servers = options;
    by_servers.by_servers = true;
    expect(bench.run(roles, training, even(4), by_servers));
  }
}

TEST_F(Local, DriftBringsReplicasTogether) {
  const auto every_step = bench.run({2, 0, false}, training, even(2), {.every = 1});
  const auto tight = bench.run({2, 0, false}, training, even(2), {.every = 0, .drift = 1e-12});
  EXPECT_EQ(tight[0].looks, every_step[0].looks);
  const auto loose = bench.run({2, 0, false}, training, even(2), {.every = 0, .drift = 1e12});
  EXPECT_EQ(loose[0].synchronisations, 1) << "only the end of the interval";
  // A little beyond what the first step does: later, with momentum, there is more.
  double first = 0;
  bench.test_worker(0).start(training, {});
  const std::vector<float> start = bench.look(0).weights;
  for (const Log& log : loose) {
    double way = 0, length = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      way += std::pow(static_cast<double>(log.looks[0].weights[i]) - start[i], 2);
      length += std::pow(static_cast<double>(start[i]), 2);
    }
    first = std::max(first, std::sqrt(way / length));
  }
  const auto some = bench.run({2, 0, false}, training, even(2), {.every = 0, .drift = 1.001 * first});
  EXPECT_FALSE(same_weights(some, 0));
  EXPECT_GT(some[0].synchronisations, 1);
  EXPECT_LT(some[0].synchronisations, 5);
  const auto less = bench.run({2, 0, false}, training, even(2), {.every = 0, .drift = 0.999 * first});
  EXPECT_TRUE(all_equal(less, 0));
}

TEST_F(Local, TheOptimizersStateIsAveragedKeptOrReset) {
  const auto is_zero = [](const Look& look) {
    return std::ranges::all_of(look.state[0], [](float x) { return x == 0; });
  };
  const auto kept = bench.run({2, 0, false}, training, even(2), {.every = 2, .state = StateAtAverage::keep});
  EXPECT_TRUE(same_weights(kept, 1));
  EXPECT_NE(kept[0].looks[1].state, kept[1].looks[1].state);
  EXPECT_TRUE(all_equal(kept, 5)) << "any strategy may follow";
  EXPECT_FALSE(is_zero(kept[0].looks[5]));
  const auto reset = bench.run({2, 0, false}, training, even(2), {.every = 2, .state = StateAtAverage::reset});
  EXPECT_TRUE(all_equal(reset, 1));
  EXPECT_TRUE(is_zero(reset[0].looks[1]));
  EXPECT_FALSE(is_zero(reset[0].looks[2]));
  EXPECT_TRUE(is_zero(reset[0].looks[5]));
  // Kept until the last step's average: the end still brings the states together.
  training.samples.resize(4);
  EXPECT_TRUE(all_equal(bench.run({2, 0, false}, training, even(2), {.every = 2, .state = StateAtAverage::keep}), 4));
}

// An optimizer that was reset begins anew: three steps after it are three first steps.
TEST_F(Local, AResetOptimizerCountsItsStepsAnew) {
  training.optimizer = "adam:lr=0.01";
  const auto logs = bench.run({1, 0, false}, training, {kOars}, {.every = 2, .state = StateAtAverage::reset});
  const std::vector<float>& before = logs[0].looks[1].weights;
  const std::vector<float>& after = logs[0].looks[2].weights;
  const double lr = 0.1 / 4;  // what the cluster's steps use
  double most = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(after[i]) - before[i]));
  EXPECT_NEAR(most, lr, 0.02 * lr) << "Adam's first step moves a weight by the learning rate";
}

TEST_F(Local, ClipsEachWorkersOwnGradient) {
  training.max_norm = 0.02;
  for (const RoleMap& roles : {RoleMap{2, 0, false}, RoleMap{2, 1, true}}) {
    const auto clipped = bench.run(roles, training, even(2), {.every = 2, .by_servers = roles.servers > 0});
    EXPECT_TRUE(all_equal(clipped, 5));
    // No momentum yet: a step is no longer than the learning rate times the bound.
    double way = 0;
    bench.test_worker(0).start(training, {});
    const std::vector<float> start = bench.look(0).weights;
    for (std::size_t i = 0; i < start.size(); ++i)
      way += std::pow(static_cast<double>(clipped[0].looks[0].weights[i]) - start[i], 2);
    EXPECT_NEAR(std::sqrt(way), 0.05 * 0.02, 1e-5);
  }
}

TEST_F(Local, WorkersMayHaveUnequalSharesOrNone) {
  training.samples = {kBatch, 1, 5, kBatch};
  const auto logs = bench.run({3, 0, false}, training, {5, 0, 3}, {.every = 2});
  EXPECT_TRUE(all_equal(logs, 1));
  EXPECT_TRUE(all_equal(logs, 4));
  for (const double number : logs[0].numbers) EXPECT_TRUE(std::isfinite(number));
}

TEST(OarAssignment, HoldsEqualSharesWhereTheyMakeBits) {
  OarAssignment assignment({AssignBy::measured, {}}, 8, {1, 3}, 1, 0);
  EXPECT_EQ(assignment.share(1, 0).size(), 2);
  assignment.hold(5);
  EXPECT_EQ(assignment.share(4, 0).size(), 2);
  EXPECT_EQ(assignment.share(5, 0), (base::Range{0, 4}));
  OarAssignment given({AssignBy::given, {6, 2}}, 8, {1, 1}, 1, 0);
  given.hold(5);
  EXPECT_EQ(given.share(5, 0), (base::Range{0, 6}));
}

}  // namespace
}  // namespace trireme::strategy
