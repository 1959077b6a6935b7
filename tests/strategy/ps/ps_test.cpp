// Workers and servers together: the bits of a single worker where they work in step, and that nothing is lost where
// they do not.
#include "strategy/ps/ps.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "strategy/cluster.h"
#include "strategy/groups/groups.h"
#include "strategy/server/hand_over.h"

namespace trireme::strategy {
namespace {

using support::Network;

// One network's crews, for every cluster of it.
class Bench {
 public:
  explicit Bench(const Network& net, crew::Reduce reduce = crew::Reduce::exact) : name_(net.name()) {
    for (int w = 0; w < 3; ++w) test_workers_.push_back(std::make_unique<TestWorker>(net, 1 + w % 2, reduce));
  }
  const std::string& name() const { return name_; }
  TestWorker& test_worker(int worker) { return *test_workers_[static_cast<std::size_t>(worker)]; }

  // All steps in intervals that begin at `starts`; between them everything goes to the workers and back, or stays.
  std::vector<Outcome> run(const RoleMap& roles, const Training& training, const std::vector<int>& oars,
                           const PsOptions& options, const std::vector<std::int64_t>& starts = {0},
                           bool stays = false) {
    for (int w = 0; w < roles.workers; ++w) test_worker(w).start(training, oars);
    std::vector<comm::Group> groups = comm::inproc_groups(roles.world(), 20);
    const auto errors = run_cluster(
        groups, roles,
        [&](comm::Group& group, int w) {
          const WorkerContext worker = test_worker(w).worker(group, roles, w);
          std::unique_ptr<Strategy> strategy;
          for (std::size_t s = 0; s < starts.size(); ++s) {
            if (s == 0 || !stays) {
              hand_to_servers(worker);
              strategy = make_ps(worker, options);
            }
            const std::int64_t end = s + 1 < starts.size() ? starts[s + 1] : test_worker(w).all_steps();
            test_worker(w).steps(*strategy, worker, starts[s], end);
            strategy->end_interval();
            const std::string hash = test_worker(w).run().hash();
            if (!stays || s + 1 == starts.size()) take_from_servers(worker);
            EXPECT_EQ(hash, test_worker(w).run().hash())
                << "worker " << w << " had old weights at the end of its interval";
          }
        },
        [&](comm::Group& group, int k) {
          Server server(group, roles, k, optim::make_optimizer(training.optimizer), training.max_norm);
          for (std::size_t s = 0; s < starts.size(); ++s) {
            if (s == 0 || !stays) server.take_over();
            std::vector<int> leaders;
            for (const std::vector<int>& team : options.teams) leaders.push_back(team.front());
            server.serve({options.synchronous, options.returns_gradients, leaders})->run();
            if (!stays || s + 1 == starts.size()) server.give_back();
          }
        });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
    std::vector<Outcome> outcomes;
    for (int w = 0; w < roles.workers; ++w) outcomes.push_back(test_worker(w).outcome(true));
    return outcomes;
  }

 private:
  std::string name_;
  std::vector<std::unique_ptr<TestWorker>> test_workers_;
};

std::string text(const RoleMap& roles) {
  return fmt::format("{} workers, {} servers{}", roles.workers, roles.servers, roles.servers_apart ? " apart" : "");
}

std::vector<RoleMap> all_role_maps() {
  std::vector<RoleMap> role_maps;
  for (const int workers : {1, 2, 3})
    for (const int servers : {1, 2, 3})
      for (const bool apart : {false, true})
        if (apart || servers <= workers) role_maps.push_back({workers, servers, apart});
  return role_maps;
}

std::vector<Network> networks() {
  std::vector<Network> all = support::small_networks();
  all.push_back(with_penalty());
  all.push_back(support::wide_mlp());
  return all;
}

constexpr const char* kSgd = "sgd:lr=0.1,momentum=0.9";
constexpr const char* kAdam = "adam:lr=0.1";

class Ps : public testing::TestWithParam<int> {
 protected:
  Bench bench{networks()[static_cast<std::size_t>(GetParam())]};
};

TEST_P(Ps, HasTheBitsOfOneWorker) {
  for (const char* optimizer : {kSgd, kAdam}) {
    const Training training{optimizer};
    const Outcome single = run_single(bench.test_worker(0), training);
    for (const RoleMap& roles : all_role_maps()) {
      SCOPED_TRACE(bench.name() + ", " + optimizer + ", " + text(roles));
      const PsOptions options{.bucket_bytes = roles.servers % 2 == 0 ? 0 : 2000};
      expect_all(bench.run(roles, training, even_oars(roles.workers), options), single);
    }
  }
}

TEST_P(Ps, ClipsByTheNormOfTheWholeGradient) {
  const Training training{kSgd, 0.02};
  const Outcome single = run_single(bench.test_worker(0), training);
  const Outcome unclipped = run_single(bench.test_worker(0), {kSgd});
  EXPECT_NE(single.hash, unclipped.hash);
  for (const RoleMap& roles : all_role_maps()) {
    SCOPED_TRACE(bench.name() + ", " + text(roles));
    expect_all(bench.run(roles, training, even_oars(roles.workers), {.bucket_bytes = 2000}), single);
  }
}

TEST_P(Ps, AnyShareOfTheOarsHasTheSameBits) {
  const Training training{kAdam};
  const Outcome single = run_single(bench.test_worker(0), training);
  for (const std::vector<int>& oars : {std::vector{5, 2, 1}, {1, 6, 1}, {0, 3, 5}, {3, 0, 5}, {8, 0, 0}}) {
    SCOPED_TRACE(bench.name());
    expect_all(bench.run({3, 2, false}, training, oars, {.bucket_bytes = 3000}), single);
  }
}

TEST_P(Ps, MayReturnGradients) {
  for (const double max_norm : {0.0, 0.02}) {
    const Training training{kAdam, max_norm};
    const Outcome single = run_single(bench.test_worker(0), training);
    for (const RoleMap& roles : {RoleMap{1, 1, true}, RoleMap{3, 2, false}, RoleMap{2, 3, true}}) {
      SCOPED_TRACE(bench.name() + ", " + text(roles));
      const PsOptions options{.returns_gradients = true, .bucket_bytes = 2000};
      expect_all(bench.run(roles, training, even_oars(roles.workers), options), single);
    }
  }
}

TEST_P(Ps, WeightsAndStateGoToTheServersAndBack) {
  const Training training{kAdam};
  const Outcome single = run_single(bench.test_worker(0), training);
  for (const bool returns : {false, true}) {
    SCOPED_TRACE(bench.name());
    const PsOptions options{.returns_gradients = returns};
    expect_all(bench.run({3, 2, false}, training, even_oars(3), options, {0, 1, 3}), single);
    expect_all(bench.run({2, 2, true}, training, even_oars(2), options, {0, 2, 2}), single);
    expect_all(bench.run({3, 1, false}, training, even_oars(3), options, {0, 1, 3}, true), single);
  }
}

// Whoever makes up a team, and whatever oars its members have.
TEST_P(Ps, TeamsHaveTheSameBits) {
  for (const double max_norm : {0.0, 0.02}) {
    const Training training{kAdam, max_norm};
    const Outcome single = run_single(bench.test_worker(0), training);
    for (const WorkerGroups& teams : {WorkerGroups{{0, 1, 2}}, {{0, 1}, {2}}, {{0}, {1, 2}}, {{0}, {1}, {2}}})
      for (const std::vector<int>& oars : {even_oars(3), {5, 2, 1}, {1, 6, 1}, {0, 3, 5}, {3, 0, 5}, {8, 0, 0}}) {
        if (max_norm > 0 && oars[0] != 1 && oars[0] != 5) continue;  // what is sent is the same
        SCOPED_TRACE(
            fmt::format("{}, {} teams, {} oars first, clipped at {}", bench.name(), teams.size(), oars[0], max_norm));
        const bool returns = oars[0] == 5;
        const PsOptions options{.returns_gradients = returns, .bucket_bytes = 2000, .teams = teams};
        expect_all(bench.run({3, 2, oars[0] % 2 == 0}, training, oars, options, {0, 1, 3}), single);
      }
  }
}

TEST_P(Ps, OneAsynchronousWorkerIsASingleOne) {
  for (const double max_norm : {0.0, 0.02}) {
    const Training training{kAdam, max_norm};
    const Outcome single = run_single(bench.test_worker(0), training);
    for (const RoleMap& roles : {RoleMap{1, 1, false}, RoleMap{1, 3, true}}) {
      SCOPED_TRACE(bench.name() + ", " + text(roles));
      expect_all(bench.run(roles, training, {kOars}, {.synchronous = false, .bucket_bytes = 2000}), single);
    }
  }
}

TEST_P(Ps, AsynchronousWorkersEndEqual) {
  for (const RoleMap& roles : {RoleMap{3, 2, false}, RoleMap{3, 3, true}, RoleMap{2, 1, true}}) {
    SCOPED_TRACE(bench.name() + ", " + text(roles));
    const auto outcomes =
        bench.run(roles, {kSgd}, even_oars(roles.workers), {.synchronous = false, .bucket_bytes = 2000}, {0, 2});
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.hash, outcomes[0].hash);
      EXPECT_EQ(outcome.state, outcomes[0].state);
      EXPECT_TRUE(std::ranges::all_of(outcome.numbers, [](double x) { return std::isfinite(x); }));
    }
  }
}

// Where any order of additions will do, the workers are still equal.
TEST(FastPs, WorkersStayEqual) {
  Bench bench(support::small_residual(), crew::Reduce::fast);
  const Outcome single = run_single(bench.test_worker(0), {kSgd});
  for (const RoleMap& roles : all_role_maps()) {
    SCOPED_TRACE(text(roles));
    const PsOptions options{.teams = roles.servers == 1 ? groups_by_count(roles.workers, 1) : WorkerGroups{}};
    const auto outcomes = bench.run(roles, {kSgd}, even_oars(roles.workers), options);
    expect_all(outcomes, outcomes[0]);
    for (std::size_t i = 0; i < single.numbers.size(); ++i)
      EXPECT_NEAR(outcomes[0].numbers[i], single.numbers[i], 1e-3 * (1 + std::abs(single.numbers[i])));
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Ps, testing::Range(0, static_cast<int>(networks().size())), [](const auto& one) {
  std::string name = networks()[static_cast<std::size_t>(one.param)].name();
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
}  // namespace trireme::strategy
