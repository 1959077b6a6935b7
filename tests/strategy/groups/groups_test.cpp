// Groups: in step inside, asynchronous between. A coordinator of the test's own hands out shares, so that what is
// pushed by whom is known.
#include "strategy/groups/groups.h"
#include "strategy/server/hand_over.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "comm/worlds.h"
#include "strategy/cluster.h"

namespace trireme::strategy {
namespace {

constexpr const char* kMomentum = "sgd:lr=0.1,momentum=0.9";

struct Result {
  std::string hash;
  std::vector<float> weights;
  std::vector<std::vector<float>> state;
  std::vector<StepReport> reports;
};

class Bench {
 public:
  explicit Bench(const support::Network& net, crew::Reduce reduce = crew::Reduce::exact) {
    for (int w = 0; w < 4; ++w) test_workers_.push_back(std::make_unique<TestWorker>(net, 1 + w % 2, reduce));
  }
  TestWorker& test_worker(int worker) { return *test_workers_[static_cast<std::size_t>(worker)]; }

  // Group g computes share g of every batch, where `rows` says so, in intervals that begin at `starts`. Groups of one
  // may be workers of ps instead.
  using Rows = std::function<bool(int group, std::int64_t step)>;
  std::vector<Result> run(const RoleMap& roles, const Training& training, const WorkerGroups& groups, double lr_scale,
                          const std::vector<std::int64_t>& starts = {0}, const std::string& transport = "inproc",
                          const Rows& rows = nullptr, bool are_workers = false) {
    for (int w = 0; w < roles.workers; ++w) test_worker(w).start(training, {});
    std::vector<comm::Group> processes = comm::make_groups(transport, roles.world());
    std::vector<Result> results(static_cast<std::size_t>(roles.workers));
    std::vector<int> leaders;
    for (const auto& group : groups) leaders.push_back(group.front());
    const auto steps = static_cast<std::int64_t>(training.samples.size());
    const auto errors = run_cluster(
        processes, roles,
        [&](comm::Group& process, int w) {
          WorkerContext worker = test_worker(w).worker(process, roles, w);
          hand_to_servers(worker);
          const auto strategy = are_workers ? make_ps(worker, {.synchronous = false}) : make_groups(worker, groups);
          Result& result = results[static_cast<std::size_t>(w)];
          for (std::size_t s = 0; s < starts.size(); ++s) {
            for (std::int64_t i = starts[s]; i < (s + 1 < starts.size() ? starts[s + 1] : steps); ++i)
              if (!rows || rows(group_of(w, groups), i))
                result.reports.push_back(strategy->step(work(w, groups, training, i, lr_scale)));
            strategy->end_interval();
            // All workers are together again.
            std::vector<int> all(static_cast<std::size_t>(roles.workers));
            process.all_gather(std::as_bytes(std::span(&w, 1)), std::as_writable_bytes(std::span(all)));
            for (int other = 0; other < roles.workers; ++other) EXPECT_EQ(all[static_cast<std::size_t>(other)], other);
          }
          const std::string hash = test_worker(w).run().hash();
          take_from_servers(worker);
          EXPECT_EQ(hash, test_worker(w).run().hash())
              << "worker " << w << " had old weights at the end of its interval";
          const crew::Crew& crew = test_worker(w).run().crew();
          const Outcome outcome = test_worker(w).outcome(true);
          result.hash = outcome.hash;
          result.state = outcome.state;
          result.weights.assign(crew.weights(), crew.weights() + crew.space().floats());
        },
        [&](comm::Group& process, int k) {
          Server server(process, roles, k, optim::make_optimizer(training.optimizer), training.max_norm);
          server.take_over();
          for (std::size_t s = 0; s < starts.size(); ++s) server.serve({false, false, leaders})->run();
          server.give_back();
        });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
    return results;
  }

 private:
  static int group_of(int worker, const WorkerGroups& groups) {
    int group = 0;
    while (std::ranges::count(groups[static_cast<std::size_t>(group)], worker) == 0) ++group;
    return group;
  }
  Work work(int w, const WorkerGroups& groups, const Training& training, std::int64_t i, double lr_scale) {
    const int group = group_of(w, groups);
    const std::vector<int>& members = groups[static_cast<std::size_t>(group)];
    const auto member = static_cast<int>(std::ranges::find(members, w) - members.begin());
    Work work;
    work.mean_over = base::oars_of_worker(group, static_cast<int>(groups.size()), kOars);
    work.oars = oars_of_member(work.mean_over, member, static_cast<int>(members.size()));
    test_worker(w).run().load(training.samples[static_cast<std::size_t>(i)], static_cast<std::uint64_t>(i));
    work.batch = test_worker(w).run().view();
    work.step = i + 1;
    work.lr = lr_scale * 0.1 / static_cast<double>(i + 2);
    return work;
  }

  std::vector<std::unique_ptr<TestWorker>> test_workers_;
};

TEST(GroupsOfWorkers, AreContiguousAndEvenOrThoseOfAHost) {
  EXPECT_EQ(groups_by_count(5, 2), (WorkerGroups{{0, 1}, {2, 3, 4}}));
  EXPECT_EQ(groups_by_count(3, 3), (WorkerGroups{{0}, {1}, {2}}));
  EXPECT_EQ(groups_by_count(3, 1), (WorkerGroups{{0, 1, 2}}));
  EXPECT_EQ(groups_by_host({"b", "a", "b", "a", "c"}), (WorkerGroups{{0, 2}, {1, 3}, {4}}));
  EXPECT_EQ(oars_of_member({4, 8}, 1, 2), (base::Range{6, 8}));
  EXPECT_EQ(oars_of_member({2, 3}, 0, 2), (base::Range{2, 2}));
}

class Groups : public testing::TestWithParam<int> {
 protected:
  static support::Network net() { return GetParam() == 0 ? support::small_residual() : support::wide_mlp(); }
  Bench bench{net()};
  Training training{kMomentum};
};

// The tree over the group's share is then the tree of the batch.
TEST_P(Groups, OneGroupHasTheBitsOfOneWorker) {
  for (const double max_norm : {0.0, 0.02}) {
    training.max_norm = max_norm;
    const Outcome single = run_single(bench.test_worker(0), training);
    for (const RoleMap& roles : {RoleMap{1, 1, true}, RoleMap{2, 1, true}, RoleMap{3, 2, false}, RoleMap{4, 2, true}}) {
      SCOPED_TRACE(fmt::format("{} workers, clip {}", roles.workers, max_norm));
      const auto results = bench.run(roles, training, groups_by_count(roles.workers, 1), 1, {0, 2});
      for (const Result& result : results) {
        EXPECT_EQ(result.hash, single.hash);
        EXPECT_EQ(result.state, single.state);
      }
      for (std::size_t i = 0; i < results[0].reports.size(); ++i) {
        EXPECT_NEAR(results[0].reports[i].loss, single.numbers[3 * i], 1e-9 * (1 + single.numbers[3 * i]));
        EXPECT_EQ(results[0].reports[i].correct, single.numbers[3 * i + 1]);
        EXPECT_EQ(results[0].reports[i].samples, training.samples[i]);
        EXPECT_EQ(results[0].reports[i].notes.size(), static_cast<std::size_t>(roles.workers));
      }
    }
  }
}

// Groups take turns, an interval each, so that the order of pushes is known: a group's push is that of one worker with
// its oars, and groups of one are asynchronous workers.
TEST_P(Groups, AGroupsPushIsThatOfOneWorkerWithItsOars) {
  for (const double max_norm : {0.0, 0.02}) {
    training.max_norm = max_norm;
    const auto turns = [](int group, std::int64_t step) { return step % 2 == group; };
    const std::vector<std::int64_t> starts{0, 1, 2, 3};
    const auto workers = bench.run({2, 1, true}, training, {{0}, {1}}, 0.5, starts, "inproc", turns, true);
    for (const auto& [roles, groups] : {std::pair{RoleMap{2, 1, true}, WorkerGroups{{0}, {1}}},
                                        std::pair{RoleMap{4, 2, false}, WorkerGroups{{0, 1}, {2, 3}}},
                                        std::pair{RoleMap{4, 1, true}, WorkerGroups{{3, 1, 0}, {2}}}}) {
      const auto results = bench.run(roles, training, groups, 0.5, starts, "inproc", turns);
      for (const Result& result : results) {
        EXPECT_EQ(result.hash, workers[0].hash);
        EXPECT_EQ(result.state, workers[0].state);
      }
      const auto& leader = results[static_cast<std::size_t>(groups[1][0])];
      EXPECT_EQ(leader.reports[0].samples, workers[1].reports[0].samples);
      EXPECT_NEAR(leader.reports[0].loss, workers[1].reports[0].loss, 1e-9 * workers[1].reports[0].loss);
    }
  }
}

TEST_P(Groups, EndEqualWhateverTheOrderOfPushes) {
  for (const WorkerGroups& groups : {groups_by_count(4, 2), WorkerGroups{{0, 2, 3}, {1}}, groups_by_count(4, 4)}) {
    for (const char* transport : {"inproc", "shm", "tcp"}) {
      SCOPED_TRACE(fmt::format("{} groups, {}", groups.size(), transport));
      const auto results =
          bench.run({4, 2, true}, training, groups, 1.0 / static_cast<double>(groups.size()), {0, 1, 3}, transport);
      for (const Result& result : results) {
        EXPECT_EQ(result.hash, results[0].hash);
        EXPECT_EQ(result.state, results[0].state);
        for (const float weight : result.weights) ASSERT_TRUE(std::isfinite(weight));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Groups, testing::Values(0, 1));

TEST(FastGroups, WorkersStayEqual) {
  Bench bench(support::small_residual(), crew::Reduce::fast);
  const Training training{kMomentum};
  const Outcome single = run_single(bench.test_worker(0), training);
  const auto results = bench.run({3, 1, true}, training, groups_by_count(3, 1), 1);
  for (const Result& result : results) EXPECT_EQ(result.hash, results[0].hash);
  for (std::size_t i = 0; i < results[0].reports.size(); ++i)
    EXPECT_NEAR(results[0].reports[i].loss, single.numbers[3 * i], 1e-3 * (1 + single.numbers[3 * i]));
}

}  // namespace
}  // namespace trireme::strategy
