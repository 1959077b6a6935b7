// Measures the memory of our training step: the peak resident size minus the resident size before the network is built,
// in a process that does nothing else.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "base/system/beside_program.h"
#include "base/system/files.h"
#include "bench/bench.h"
#include "observe/resources.h"
#include "peer/answering_process.h"

namespace trireme::bench {
namespace {
constexpr int kSteps = 3;
constexpr double kDeadlineSeconds = 600;
}  // namespace

void bench_memory(const train::Registry& registry, const base::Settings& settings) {
  base::set_active_isa(base::parse_isa(settings.text("isa")));
  const std::vector<BenchCase> cases = bench_cases(registry, settings);
  if (cases.size() != 1)
    base::user_error("bench memory measures one fresh process: give it one --model and one number of --threads");
  const BenchCase& one = cases.front();
  const base::CorePlan cores = base::plan_cores();
  observe::reset_peak_resident();
  const double before = observe::resident_bytes();
  make_rig(one, cores)->run(kSteps);
  const double bytes = observe::peak_resident_bytes() - before;
  if (!settings.flag("json")) {
    fmt::print("{} batch {}, {} threads, {} oars: {:.1f} MB\n", one.model, one.batch, one.threads, one.oars,
               1e-6 * bytes);
    return;
  }
  const nlohmann::ordered_json result{{"model", one.model},
                                      {"batch", one.batch},
                                      {"threads", one.threads},
                                      {"oars", one.oars},
                                      {"memory_bytes", static_cast<std::int64_t>(bytes)}};
  fmt::print("{}\n", nlohmann::ordered_json{{"results", {result}}}.dump());
}

double own_memory_bytes(const BenchCase& bench, const std::string& isa) {
  const std::string self = base::this_program();
  peer::AnsweringProcess child("trireme bench memory",
                               {self, "bench", "memory", "--model", bench.model, "--batch", std::to_string(bench.batch),
                                "--threads", std::to_string(bench.threads), "--oars", std::to_string(bench.oars),
                                "--reduce", bench.reduce == crew::Reduce::fast ? "fast" : "exact", "--isa", isa,
                                "--kernel-table", bench.table ? bench.table->source() : "", "--json"},
                               base::plan_cores().cpus);
  const int code = child.finish(kDeadlineSeconds);
  if (code != 0) base::run_error("measuring the memory of {} failed: {}", bench.model, child.last_words());
  return nlohmann::json::parse(child.output()).at("results").at(0).at("memory_bytes").get<double>();
}

}  // namespace trireme::bench
