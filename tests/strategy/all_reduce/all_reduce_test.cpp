// allreduce: the bits of a single worker, whoever updates the weights, and the whole of the optimizer's state at the
// end of every interval.
#include <gtest/gtest.h>

#include <array>

#include "strategy/cluster.h"

namespace trireme::strategy {
namespace {

constexpr int kMost = 5;  // workers

enum class Memory { own, shared, one_place_for_weights };
constexpr std::array kMemories{Memory::own, Memory::shared, Memory::one_place_for_weights};
constexpr std::array kNames{"messages", "shared memory", "the same weights"};

struct Setting {
  int workers = 2;
  std::vector<int> oars{};  // of each; none: even
  Memory memory = Memory::own;
  AllReduceOptions options{};
  std::vector<std::int64_t> starts = {0};  // of intervals
  bool starts_anew = false;                // another strategy for each of them
};

class Bench {
 public:
  explicit Bench(const graph::Network& net) {
    for (int w = 0; w < kMost; ++w) test_workers_.push_back(std::make_unique<TestWorker>(net, 1 + w % 2));
  }

  Outcome single(const Training& training) { return run_single(*test_workers_[0], training); }

  std::vector<Outcome> run(const Setting& setting, const Training& training) {
    const RoleMap roles{setting.workers, 0, false};
    for (int w = 0; w < roles.workers; ++w)
      test_worker(w).start(training, setting.oars.empty() ? even_oars(roles.workers) : setting.oars);
    std::vector<comm::Group> groups = comm::inproc_groups(roles.world(), 20);
    const auto errors = run_cluster(
        groups, roles,
        [&](comm::Group& group, int w) {
          if (setting.memory != Memory::own)
            test_worker(w).share_memory(group, setting.memory == Memory::one_place_for_weights);
          const WorkerContext worker = test_worker(w).worker(group, roles, w);
          auto strategy = make_all_reduce(worker, setting.options);
          for (std::size_t s = 0; s < setting.starts.size(); ++s) {
            const std::int64_t end = s + 1 < setting.starts.size() ? setting.starts[s + 1] : test_worker(w).all_steps();
            test_worker(w).steps(*strategy, worker, setting.starts[s], end);
            strategy->end_interval();
            if (!setting.starts_anew) continue;
            strategy.reset();
            strategy = make_all_reduce(worker, setting.options);
          }
        },
        nullptr);
    for (const std::string& error : errors) EXPECT_EQ(error, "");
    std::vector<Outcome> outcomes;
    for (int w = 0; w < roles.workers; ++w) outcomes.push_back(test_worker(w).outcome(true));
    return outcomes;
  }

 private:
  TestWorker& test_worker(int w) { return *test_workers_[static_cast<std::size_t>(w)]; }

  std::vector<std::unique_ptr<TestWorker>> test_workers_;
};

void check(Bench& bench, const Training& training, const std::vector<Setting>& settings) {
  const Outcome expected = bench.single(training);
  for (const Setting& setting : settings) {
    SCOPED_TRACE(fmt::format("{}, {} workers{}, {} bytes in a bucket, {} stretches, {}", training.optimizer,
                             setting.workers, setting.oars.empty() ? "" : " with unequal oars",
                             setting.options.bucket_bytes, setting.starts.size(),
                             kNames[static_cast<std::size_t>(setting.memory)]));
    expect_all(bench.run(setting, training), expected);
  }
}

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const Memory memory : kMemories) {
    for (const int workers : {2, 3, 5}) settings.push_back({.workers = workers, .memory = memory});
    settings.push_back({.workers = 3, .oars = {5, 0, 3}, .memory = memory});
    settings.push_back({.workers = 2, .oars = {1, 7}, .memory = memory, .starts = {0, 1, 3}});
    settings.push_back({.workers = 3, .memory = memory, .starts = {0, 1, 3}, .starts_anew = true});
    settings.push_back({.workers = 3, .memory = memory, .options = {.bucket_bytes = 1}});
  }
  const AllReduceOptions direct{.algorithm = comm::Algorithm::direct};
  settings.push_back({.workers = 3, .memory = Memory::shared, .options = direct});
  settings.push_back({.workers = 3, .oars = {5, 0, 3}, .memory = Memory::shared, .options = direct});
  return settings;
}

TEST(AllReduce, HasTheBitsOfASingleWorkerForEveryNetwork) {
  for (const auto& net : support::small_networks()) {
    SCOPED_TRACE(net.name());
    Bench bench(net);
    std::vector<Setting> settings;
    for (const Memory memory : kMemories) settings.push_back({.workers = 3, .memory = memory});
    check(bench, {}, settings);
  }
}

TEST(AllReduce, HasTheBitsOfASingleWorkerForEveryCluster) {
  Bench bench(with_penalty());
  check(bench, {}, all_settings());
}

TEST(AllReduce, WhoAddsASliceUpdatesItWithAnyOptimizer) {
  Bench bench(support::small_networks().front());
  for (const std::string optimizer : {"sgd:lr=0.1", "sgd:lr=0.1,momentum=0.9,weight-decay=5e-4", "adam", "adadelta",
                                      "adagrad", "adam:weight-decay=0.01,decoupled=yes"})
    check(bench, {.optimizer = optimizer}, all_settings());
}

TEST(AllReduce, WhatNeedsTheWholeGradientIsDoneByAll) {
  Bench bench(support::small_networks().front());
  check(bench, {.max_norm = 0.5}, all_settings());
}

}  // namespace
}  // namespace trireme::strategy
