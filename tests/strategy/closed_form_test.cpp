// Every strategy of the registry on a Replica without a network, whose training has a closed form.
#include <gtest/gtest.h>

#include <mutex>

#include "strategy/builtin_strategies.h"
#include "strategy/cluster.h"
#include "strategy/fake_replica.h"
#include "strategy/phases.h"

namespace trireme::strategy {
namespace {

constexpr std::int64_t kSteps = 4, kSamples = 8;
constexpr double kLr = 0.5;

std::int64_t sample_of(std::int64_t step, std::int64_t i) { return (step * 5 + i) % 64; }

// Weights and statistics after the last step, by the formula: w moves half the way to the mean target of each batch.
// Shares of a batch move each their own way, where there are several, until they are averaged.
std::vector<float> closed_form(const crew::Replica& replica, int shares, std::int64_t average_every) {
  std::vector<std::vector<double>> w(static_cast<std::size_t>(shares),
                                     std::vector<double>(static_cast<std::size_t>(replica.space().floats())));
  const auto mean = [&](std::int64_t step, int share, std::int64_t position) {
    double sum = 0;
    const std::int64_t each = kSamples / shares;
    for (std::int64_t i = 0; i < each; ++i)
      sum += static_cast<double>(fake_target(sample_of(step, share * each + i), position));
    return sum / static_cast<double>(each);
  };
  const auto move_to = [&](std::int64_t offset, std::int64_t count, std::int64_t position, double way,
                           std::int64_t step) {
    for (std::int64_t i = 0; i < count; ++i)
      for (int share = 0; share < shares; ++share) {
        double& value = w[static_cast<std::size_t>(share)][static_cast<std::size_t>(offset + i)];
        value += way * (mean(step, share, position + i) - value);
      }
  };
  for (std::int64_t step = 0; step < kSteps; ++step) {
    for (const crew::Chunk& chunk : replica.chunks()) move_to(chunk.offset, chunk.count, chunk.offset, kLr, step);
    const crew::MovingStatistic& statistic = replica.moving_statistics()[0];
    move_to(statistic.offset, statistic.count, 0, statistic.momentum, step);
    if ((step + 1) % average_every != 0 && step + 1 < kSteps) continue;
    for (std::size_t i = 0; i < w[0].size(); ++i) {
      double sum = 0;
      for (const std::vector<double>& one : w) sum += one[i];
      for (std::vector<double>& one : w) one[i] = sum / shares;
    }
  }
  return {w[0].begin(), w[0].end()};
}

struct Case {
  std::string strategy;
  int workers = 1, servers = 0;
  bool exact = true;
  std::int64_t average_every = 0;  // of replicas that go apart; 0: they do not
};

class ClosedForm : public testing::TestWithParam<Case> {};

TEST_P(ClosedForm, Weights) {
  const Case& test = GetParam();
  const RoleMap roles{test.workers, test.servers, test.servers > 0};
  const StrategyRegistry strategies = builtin_strategies();
  const StrategyConfigPtr config =
      parse_phases(strategies, test.strategy, {kSteps, kSteps, {test.workers, {}}}).at(0).strategy;
  // Any strategy can hand over to any other; this one leaves all of the state with every worker.
  const StrategyConfigPtr next = parse_phases(strategies, "local", {kSteps, kSteps, {test.workers, {}}}).at(0).strategy;
  const StateOwner owner = config->traits().state_owner;
  ASSERT_EQ(config->traits().needs_servers, test.servers > 0);
  const std::shared_ptr<const optim::Optimizer> sgd = optim::make_optimizer("sgd:lr=0.5");
  std::vector<std::vector<float>> results(static_cast<std::size_t>(test.workers));
  std::vector<comm::Group> groups = comm::inproc_groups(roles.world(), 20);
  std::mutex mutex;
  StateMap pieces;  // of all owners
  const auto add_pieces = [&](const StateMap& more) {
    const std::lock_guard lock(mutex);
    pieces.insert(pieces.end(), more.begin(), more.end());
  };
  const auto errors = run_cluster(
      groups, roles,
      [&](comm::Group& group, int w) {
        FakeReplica replica(kOars, !test.exact);
        Updater updater(replica, sgd, 0);
        OarAssignment assignment({AssignBy::even, {}}, kOars,
                                 std::vector<int>(static_cast<std::size_t>(test.workers), 1), 1, 1);
        tensor::Buffer memory(8 * static_cast<std::size_t>(replica.space().floats()) * sizeof(float));
        const WorkerContext worker{
            replica,   updater, group, roles, w, assignment, {memory.floats(), memory.bytes() / sizeof(float)},
            test.exact};
        config->import_state(worker, StateOwner::workers);
        const std::unique_ptr<Strategy> strategy = config->make_worker_side(worker);
        std::vector<std::int64_t> indices(kSamples);
        for (std::int64_t step = 0; step < kSteps; ++step) {
          for (std::int64_t i = 0; i < kSamples; ++i) indices[static_cast<std::size_t>(i)] = sample_of(step, i);
          Work work;
          work.batch.samples = kSamples;
          work.batch.indices = indices;
          work.oars = config->traits().is_synchronous ? assignment.share(step + 1, w)
                                                      : oars_of_member({0, kOars}, w, test.workers);
          work.mean_over = {0, kOars};
          work.step = step + 1;
          work.lr = kLr;
          const StepReport report = strategy->step(work);
          if (config->traits().is_synchronous) {
            EXPECT_EQ(report.loss, kSamples) << "over all workers";
          }
        }
        strategy->end_interval();
        if (w == 0 || owner == StateOwner::servers) add_pieces(config->export_state(worker));
        next->import_state(worker, owner);
        results[static_cast<std::size_t>(w)].assign(replica.weights(), replica.weights() + replica.space().floats());
      },
      [&](comm::Group& group, int k) {
        Server server(group, roles, k, sgd, 0);
        config->import_state(server, StateOwner::workers);
        const auto side = config->make_server_side(server);
        side->run();
        server.set_version(side->last_step());
        add_pieces(config->export_state(server));
        next->import_state(server, owner);
      });
  check_is_whole(pieces, FakeReplica(kOars).space().floats(), owner == StateOwner::servers ? kSteps : 0);
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  const bool apart = test.average_every > 0;
  const std::vector<float> expected =
      closed_form(FakeReplica(kOars), apart ? test.workers : 1, apart ? test.average_every : 1);
  EXPECT_GT(expected[0], 0) << "something was learnt";
  for (int w = 0; w < test.workers; ++w) EXPECT_EQ(results[static_cast<std::size_t>(w)], expected) << "worker " << w;
}

std::vector<Case> all_cases() {
  std::vector<Case> all{{"single"}, {"allreduce"}, {"ps:mode=async", 1, 1}, {"ps:mode=ssp", 1, 2}};
  for (const int workers : {1, 2, 3, 5, 8}) {
    all.push_back({"allreduce", workers});
    all.push_back({"allreduce:algorithm=direct", workers});
    all.push_back({"allreduce:algorithm=ring", workers, 0, false});
    for (const int servers : {1, 2, 3}) {
      all.push_back({"ps", workers, servers});
      all.push_back({"ps:return=gradients", workers, servers});
      all.push_back({"ps:levels=2", workers, servers});
    }
    all.push_back({"groups:count=1", workers, 2});
  }
  for (const int workers : {1, 2, 4, 8})
    for (const std::int64_t every : {1, 2, 3}) {
      all.push_back({fmt::format("local:every={}", every), workers, 0, true, every});
      all.push_back({fmt::format("local:every={},by=servers", every), workers, 2, true, every});
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, ClosedForm, testing::ValuesIn(all_cases()), [](const auto& test) {
  std::string name =
      fmt::format("{}_{}_{}_{}", test.index, test.param.strategy, test.param.workers, test.param.servers);
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace trireme::strategy
