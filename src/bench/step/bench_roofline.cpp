// `trireme bench roofline`: measures the machine's peaks, computes the least time of a training step of each network at
// these peaks, and compares our step with it.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/cpu/machine_peaks.h"
#include "base/cpu/simd.h"
#include "bench/bench.h"

namespace trireme::bench {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The lower bound of one step, waiting excluded.
struct Floor {
  double flops = 0, bytes = 0;
  double seconds = 0;  // the sum of the least times of all tasks
};

Floor floor_of(const observe::Profile& profile, const base::Peak& peak) {
  Floor floor;
  const auto steps = static_cast<double>(profile.steps);
  for (const observe::ProfileRow& row : profile.rows) {
    floor.flops += row.flops / steps;
    floor.bytes += row.bytes / steps;
    // least_seconds() is the time of one of the peak's threads; here all threads share the work.
    floor.seconds += base::least_seconds(peak, row.flops, row.bytes) / steps / peak.threads;
  }
  return floor;
}

OrderedJson peak_json(const base::Peak& peak) {
  return {{"threads", peak.threads},
          {"gflops", 1e-9 * peak.flops_per_second},
          {"copy_gbytes_per_second", 1e-9 * peak.copy_bytes_per_second},
          {"triad_gbytes_per_second", 1e-9 * peak.triad_bytes_per_second}};
}

void print_peak(const base::Peak& peak) {
  fmt::print("{:>3} thread{} {:>9.1f} GFLOP/s {:>8.1f} GB/s copy {:>8.1f} GB/s triad\n", peak.threads,
             peak.threads == 1 ? " " : "s", 1e-9 * peak.flops_per_second, 1e-9 * peak.copy_bytes_per_second,
             1e-9 * peak.triad_bytes_per_second);
}

}  // namespace

void bench_roofline(const train::Registry& registry, const base::Settings& settings) {
  base::set_active_isa(base::parse_isa(settings.text("isa")));
  const std::vector<BenchCase> cases = bench_cases(registry, settings);
  const auto repeats = static_cast<int>(settings.integer("repeats", 1, 10000));
  const base::CorePlan cores = base::plan_cores();
  const bool json = settings.flag("json");
  std::map<int, base::Peak> peaks;
  for (const BenchCase& bench : cases) peaks[bench.busy_threads()];
  peaks[1];
  if (!json)
    fmt::print("Peaks of this machine ({}, {} cores), measured:\n", base::isa_name(base::active_isa()), cores.usable);
  for (auto& [threads, peak] : peaks) {
    peak = base::measure_peak(threads, base::cpus_to_pin(cores, threads));
    if (!json) print_peak(peak);
  }
  if (!json)
    fmt::print(
        "One training step: operations, bytes, the least time they take (for each task the longer of the two),\n"
        "and the fastest step of ours\n"
        "{:<17} {:>5} {:>3} {:>3} {:>9} {:>8} {:>10} {:>10} {:>10} {:>11} {:>7}\n",
        "model", "batch", "thr", "V", "GFLOP", "GB", "flops ms", "bytes ms", "least ms", "measured ms", "close");
  OrderedJson results = OrderedJson::array();
  for (const BenchCase& bench : cases) {
    const base::Peak& peak = peaks.at(bench.busy_threads());
    const ProfiledStep step = profile_step(bench, cores, repeats);
    const Floor floor = floor_of(step.profile, peak);
    const double measured = step.fastest_seconds;
    const double flops_ms = 1e3 * floor.flops / peak.flops_per_second,
                 bytes_ms = 1e3 * floor.bytes / peak.bytes_per_second();
    results.push_back({{"model", bench.model},
                       {"batch", bench.batch},
                       {"threads", bench.threads},
                       {"oars", bench.oars},
                       {"gflop", 1e-9 * floor.flops},
                       {"gbytes", 1e-9 * floor.bytes},
                       {"least_flops_ms", flops_ms},
                       {"least_bytes_ms", bytes_ms},
                       {"least_ms", 1e3 * floor.seconds},
                       {"ours_ms", 1e3 * measured},
                       {"percent", 100 * floor.seconds / measured}});
    if (json) continue;
    fmt::print("{:<17} {:>5} {:>3} {:>3} {:>9.3f} {:>8.3f} {:>10.2f} {:>10.2f} {:>10.2f} {:>11.2f} {:>5.0f} %\n",
               bench.model, bench.batch, bench.threads, bench.oars, 1e-9 * floor.flops, 1e-9 * floor.bytes, flops_ms,
               bytes_ms, 1e3 * floor.seconds, 1e3 * measured, 100 * floor.seconds / measured);
    std::fflush(stdout);
  }
  if (!json) return;
  OrderedJson all{{"peaks", OrderedJson::array()}, {"results", results}};
  for (const auto& [threads, peak] : peaks) all["peaks"].push_back(peak_json(peak));
  fmt::print("{}\n", all.dump());
}

}  // namespace trireme::bench
