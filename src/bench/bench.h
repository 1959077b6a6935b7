// Shared by the commands of `trireme bench`: the steps to measure, and their setup.
// Main thread only: measuring pins the calling thread.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu/cores.h"
#include "base/text/options.h"
#include "train/experiment/registry.h"
#include "train/step_benchmark.h"

namespace trireme::bench {

// A training step to measure.
struct BenchCase {
  std::string model;  // as --model names it: of the zoo, or a file
  std::int64_t batch = 0;
  int threads = 1;
  int oars = 1;
  crew::Reduce reduce = crew::Reduce::exact;
  std::shared_ptr<const ops::KernelTable> table{};
  std::shared_ptr<const models::ModelRow> info{};

  // Threads beyond the number of oars have nothing to compute.
  int busy_threads() const { return std::min(threads, oars); }
};

// All combinations of --model and --threads.
std::vector<BenchCase> bench_cases(const train::Registry& registry, const base::Settings& settings);
// The network of a model, for its own shapes.
graph::Network network_of(const models::ModelRow& model);

// Pins threads as train does: if they use all cores.
std::unique_ptr<train::StepBenchmark> make_rig(const BenchCase& bench, const base::CorePlan& cores,
                                               bool profile = false);

// The number of steps of this length in a round of a fifth of a second; at least one.
int steps_of_a_round(double step_seconds);

// The lower median if the number of values is even. REQUIRES: at least one value.
double median(std::vector<double> values);

struct ProfiledStep {
  observe::Profile profile;
  double fastest_seconds = 0;  // per step: the mean over the fastest round
};
ProfiledStep profile_step(const BenchCase& bench, const base::CorePlan& cores, int rounds);

// The peak memory of our step beyond that of an empty process, measured in a fresh process of this program.
double own_memory_bytes(const BenchCase& bench, const std::string& isa);

// `bench step --tune FILE`: measures every algorithm of every layer that has a choice, and writes the fastest ones.
void tune(const std::vector<BenchCase>& cases, const std::string& file);

// The commands of `trireme bench`.
void bench_step(const train::Registry& registry, const base::Settings& settings);
void bench_train(const train::Registry& registry, const base::Settings& settings);
void bench_memory(const train::Registry& registry, const base::Settings& settings);
void bench_roofline(const train::Registry& registry, const base::Settings& settings);
void bench_input(const train::Registry& registry, const base::Settings& settings);
// A process that reads an epoch on request (standard input) and reports the memory of its mapping of the data.
void bench_reader(const train::Registry& registry, const base::Settings& settings);
void bench_collective(const train::Registry& registry, const base::Settings& settings);
// One rank of bench_collective(), controlled through standard input.
void bench_rank(const train::Registry& registry, const base::Settings& settings);

}  // namespace trireme::bench
