// `trireme bench step --tune FILE`: measures every algorithm of every layer that has a choice, inside the network's own
// step, and writes the fastest ones into a kernel table.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "base/system/files.h"
#include "base/version.h"
#include "bench/bench.h"
#include "graph/choices.h"
#include "graph/fusion.h"
#include "models/zoo.h"

namespace trireme::bench {
namespace {

constexpr int kRounds = 5;

using Layer = graph::LayerChoices;

// Seconds per algorithm, for both directions plus the reorders that the layer needs; the minimum over the rounds.
using Times = std::map<std::string, double>;

void measure_algorithms(const BenchCase& bench, const std::vector<Layer>& layers, const base::CorePlan& cores,
                        std::map<std::string, Times>& times) {
  std::vector<std::string> algorithms;
  for (const Layer& layer : layers)
    for (const std::string& algorithm : layer.choices.algorithms)
      if (std::find(algorithms.begin(), algorithms.end(), algorithm) == algorithms.end())
        algorithms.push_back(algorithm);
  std::vector<std::unique_ptr<train::StepBenchmark>> rigs;
  for (const std::string& algorithm : algorithms) {
    auto table = std::make_shared<ops::KernelTable>();
    for (const Layer& layer : layers)
      if (std::count(layer.choices.algorithms.begin(), layer.choices.algorithms.end(), algorithm) != 0)
        table->choose(base::active_isa(), layer.choices.layer, algorithm);
    BenchCase with = bench;
    with.table = table;
    rigs.push_back(make_rig(with, cores, true));
    rigs.back()->run(2);
    rigs.back()->take_profile();
  }
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t a = 0; a < algorithms.size(); ++a) {
      rigs[a]->run(steps_of_a_round(rigs[a]->run(1).total));
      const observe::Profile profile = rigs[a]->take_profile();
      for (const Layer& layer : layers) {
        if (std::count(layer.choices.algorithms.begin(), layer.choices.algorithms.end(), algorithms[a]) == 0) continue;
        double seconds = 0;
        for (const observe::ProfileRow& row : profile.rows)
          if (row.layer == layer.name) seconds += row.seconds / static_cast<double>(profile.steps);
        const auto [known, is_new] = times[layer.name].try_emplace(algorithms[a], seconds);
        if (!is_new) known->second = std::min(known->second, seconds);
      }
    }
}

}  // namespace

void tune(const std::vector<BenchCase>& cases, const std::string& file) {
  base::check_new_file("--tune", file);
  const base::CorePlan cores = base::plan_cores();
  ops::KernelTable table;
  std::map<std::string, Times> by_layer;  // keys as in the table: equal layers share a row
  std::string about;
  for (const BenchCase& bench : cases) {
    const graph::Network network = graph::fuse(network_of(*bench.info));
    const auto layers = graph::layers_with_a_choice(network, (bench.batch + bench.oars - 1) / bench.oars);
    std::map<std::string, Times> times;
    if (!layers.empty()) measure_algorithms(bench, layers, cores, times);
    for (const Layer& layer : layers)
      for (const auto& [algorithm, seconds] : times[layer.name]) by_layer[layer.choices.layer][algorithm] += seconds;
    about += fmt::format("# {} with {} samples in {} oars on {} threads\n", bench.model, bench.batch, bench.oars,
                         bench.busy_threads());
  }
  fmt::print("{:<70} {}\n", "layer", "milliseconds forward and backward; the first is taken");
  for (const auto& [layer, times] : by_layer) {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [algorithm, seconds] : times) order.emplace_back(seconds, algorithm);
    std::sort(order.begin(), order.end());
    table.choose(base::active_isa(), layer, order.front().second);
    fmt::print("{:<70}", layer);
    for (const auto& [seconds, algorithm] : order) fmt::print(" {} {:.3f} ", algorithm, 1e3 * seconds);
    fmt::print("\n");
  }
  base::write_text_atomically(file, fmt::format("# kernel table, {}\n{}{}", base::version_text(), about, table.text()));
  fmt::print("{} rows written to {}; use them with --kernel-table {}\n", table.size(), file, file);
}

}  // namespace trireme::bench
