// What the words of `trireme bench` share: which steps to measure, and how one is set up.
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

// One training step to be measured.
struct BenchCase {
  std::string model;
  std::int64_t batch = 0;
  int threads = 1;
  int oars = 1;
  crew::Reduce reduce = crew::Reduce::exact;
  std::shared_ptr<const ops::KernelTable> table{};
  const models::ModelRow* info = nullptr;  // the registry's row

  // Threads beyond the oars have nothing to compute.
  int busy_threads() const { return std::min(threads, oars); }
};

// Every model of --model at every number of --threads.
std::vector<BenchCase> bench_cases(const models::ModelRegistry& models, const base::Settings& settings);

// Threads are pinned as train pins them: when they use all cores.
std::unique_ptr<train::StepBenchmark> make_rig(const BenchCase& bench, const base::CorePlan& cores,
                                               bool profile = false);

// How many steps of this length make a round of a fifth of a second; at least one.
int steps_of_a_round(double step_seconds);

// The lower of the two in the middle where their number is even. REQUIRES: there is one.
double median(std::vector<double> values);

struct ProfiledStep {
  observe::Profile profile;
  double fastest_seconds = 0;  // of a step, the mean over the fastest round
};
ProfiledStep profile_step(const BenchCase& bench, const base::CorePlan& cores, int rounds);

// What our step takes beyond a bare process, at its peak: measured in a fresh process of this program.
double own_memory_bytes(const BenchCase& bench, const std::string& isa);

// `bench step --tune FILE`: measures every algorithm of every layer that has a choice and writes the fastest ones.
void tune(const std::vector<BenchCase>& cases, const std::string& file);

// The words.
void bench_step(const train::Registry& registry, const base::Settings& settings);
void bench_train(const train::Registry& registry, const base::Settings& settings);
void bench_memory(const train::Registry& registry, const base::Settings& settings);
void bench_roofline(const train::Registry& registry, const base::Settings& settings);
void bench_input(const train::Registry& registry, const base::Settings& settings);
// One process that reads an epoch when told so on standard input, and says what its mapping of the data takes.
void bench_reader(const train::Registry& registry, const base::Settings& settings);
void bench_collective(const train::Registry& registry, const base::Settings& settings);
// One rank of it, told what to do on standard input.
void bench_rank(const train::Registry& registry, const base::Settings& settings);

}  // namespace trireme::bench
