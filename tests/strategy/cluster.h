// A whole cluster of workers and servers in one process, for tests: every rank is a thread, every server of a worker's
// process one more. The batches are those of support::CrewRun, each step its own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/transport/inproc.h"
#include "strategy/all_reduce/all_reduce.h"
#include "strategy/ps/ps.h"
#include "strategy/server/server.h"
#include "strategy/single/single.h"
#include "support/core_crew_run.h"
#include "support/core_networks.h"

namespace trireme::strategy {

inline constexpr int kOars = 8;
inline constexpr std::int64_t kBatch = 16;

struct Training {
  std::string optimizer = "sgd:lr=0.1,momentum=0.9";
  double max_norm = 0;
  std::vector<std::int64_t> samples = {kBatch, kBatch, 5, kBatch - 3};  // of each step
};

// What is compared.
struct Outcome {
  std::string hash;
  std::vector<std::vector<float>> state;  // per slot
  std::vector<double> numbers;            // loss, correct and penalty of each step
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

inline void expect_all(const std::vector<Outcome>& outcomes, const Outcome& expected) {
  for (std::size_t w = 0; w < outcomes.size(); ++w) {
    EXPECT_EQ(outcomes[w].hash, expected.hash) << "worker " << w;
    EXPECT_EQ(outcomes[w].state, expected.state) << "worker " << w;
    EXPECT_EQ(outcomes[w].numbers, expected.numbers) << "worker " << w;
  }
}

inline std::vector<int> even_oars(int workers) {
  std::vector<int> oars;
  for (int w = 0; w < workers; ++w) oars.push_back(static_cast<int>(base::oars_of_worker(w, workers, kOars).size()));
  return oars;
}

inline graph::Network with_penalty() {
  graph::Network net("with-penalty");
  graph::Value x = net.input("image", {2, 6, 6});
  x = net.add("conv", support::conv3(7, 1, true), {x});
  net.l2_penalty(x, 0.01);
  x = net.add("bn", ops::batch_norm(), {x});
  x = net.add("relu", ops::relu(), {x});
  x = net.add("flat", ops::flatten(), {x});
  x = net.add("hidden", ops::dense({.outputs = 11}), {x});
  net.l2_penalty(x, 0.003);
  support::classify(net, x);
  return net;
}

// A worker's crew and all that goes with it. The crew is kept from test to test.
class TestWorker {
 public:
  explicit TestWorker(const graph::Network& net, int threads = 1, crew::Reduce reduce = crew::Reduce::exact)
      : run_(net, {.batch = kBatch, .oars = kOars, .threads = threads, .reduce = reduce}),
        is_exact_(reduce == crew::Reduce::exact),
        start_(run_.weights()) {}

  void start(const Training& training, const std::vector<int>& oars) {
    training_ = training;
    run_.set_parameters(start_);
    updater_.emplace(run_.crew(), std::shared_ptr(optim::make_optimizer(training.optimizer)), training.max_norm);
    const AssignOptions options{oars.empty() ? AssignBy::even : AssignBy::given, oars};
    const std::size_t workers = std::max<std::size_t>(oars.size(), 1);
    assignment_ = std::make_unique<OarAssignment>(options, kOars, std::vector<int>(workers, 1), 1, 1);
    gradients_ = tensor::Buffer(8 * static_cast<std::size_t>(run_.crew().space().floats()) * sizeof(float));
    shared_gradients_ = host_weights_ = {};
    outcome_ = {};
  }
  // Weights and gradients in memory that all ranks reach, each its own, or one place for the weights of all; called by
  // all of them.
  void share_memory(comm::Group& group, bool one_place) {
    const auto floats = static_cast<std::size_t>(run_.crew().space().floats());
    const std::size_t array = tensor::align_up(floats * sizeof(float)) / sizeof(float);
    std::shared_ptr<const comm::SharedWindow> window = group.allocate(10 * array * sizeof(float));
    window->take(0, 2 * array * sizeof(float));
    auto* memory = reinterpret_cast<float*>(window->own().data());
    run_.crew().move_weights(memory);
    shared_gradients_ = {memory + array, 8 * array};
    if (one_place) host_weights_ = {reinterpret_cast<float*>(window->part(0).data()) + 9 * array, floats};
    std::swap(window_, window);  // the one before held the weights until now
  }
  WorkerContext worker(comm::Group& group, const RoleMap& roles, int worker) {
    const std::span<float> own(gradients_.floats(), gradients_.bytes() / sizeof(float));
    const std::span<float> gradients = shared_gradients_.empty() ? own : shared_gradients_;
    return {run_.crew(), *updater_, group, roles, worker, *assignment_, gradients, is_exact_, host_weights_};
  }
  // Steps [first, end), counted from 0.
  void steps(Strategy& strategy, const WorkerContext& worker, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      run_.load(training_.samples[static_cast<std::size_t>(i)], static_cast<std::uint64_t>(i));
      Work work;
      work.batch = run_.view();
      work.step = i + 1;
      work.oars = assignment_->share(work.step, worker.worker);
      work.lr = 0.1 / static_cast<double>(i + 2);
      const StepReport report = strategy.step(work);
      outcome_.numbers.insert(outcome_.numbers.end(), {report.loss, report.correct, report.penalty});
    }
  }
  std::int64_t all_steps() const { return static_cast<std::int64_t>(training_.samples.size()); }
  // With the optimizer's state where this worker has it.
  Outcome outcome(bool with_state) {
    outcome_.hash = run_.hash();
    outcome_.state.clear();
    for (int s = 0; with_state && s < updater_->state().slots(); ++s)
      outcome_.state.emplace_back(updater_->state().slot(s).begin(), updater_->state().slot(s).end());
    return outcome_;
  }
  support::CrewRun& run() { return run_; }
  Updater& updater() { return *updater_; }

 private:
  std::shared_ptr<const comm::SharedWindow> window_;  // holds the weights, once they were shared
  support::CrewRun run_;
  bool is_exact_;
  support::Plain start_;
  Training training_;
  std::optional<Updater> updater_;
  std::unique_ptr<OarAssignment> assignment_;
  tensor::Buffer gradients_;
  std::span<float> shared_gradients_, host_weights_;
  Outcome outcome_;
};

inline Outcome run_single(TestWorker& test_worker, const Training& training) {
  std::vector<comm::Group> groups = comm::inproc_groups(1, 20);
  test_worker.start(training, {});
  const WorkerContext worker = test_worker.worker(groups[0], {}, 0);
  const auto single = make_single(worker.replica, worker.updater);
  test_worker.steps(*single, worker, 0, test_worker.all_steps());
  return test_worker.outcome(true);
}

// Runs `work` for every worker and `serve` for every server; the errors by process, empty where there was none.
inline std::vector<std::string> run_cluster(std::vector<comm::Group>& groups, const RoleMap& roles,
                                            const std::function<void(comm::Group&, int worker)>& work,
                                            const std::function<void(comm::Group&, int server)>& serve) {
  std::vector<std::string> errors(2 * groups.size());  // of workers, then of servers
  std::vector<std::thread> threads;
  const auto start = [&](std::size_t place, auto body) {
    threads.emplace_back([&errors, place, body] {
      try {
        body();
      } catch (const std::exception& error) {
        errors[place] = error.what();
      }
    });
  };
  for (std::size_t process = 0; process < groups.size(); ++process) {
    const int worker = roles.worker_of(static_cast<int>(process)), server = roles.server_of(static_cast<int>(process));
    comm::Group& group = groups[process];
    if (worker >= 0)
      start(process, [&, worker] {
        if (roles.servers_apart) group.among(roles.worker_processes(), 1000);
        work(group, worker);
      });
    if (server >= 0) start(groups.size() + process, [&, server] { serve(group, server); });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace trireme::strategy
