// `trireme bench step`: measures our training step and a peer's. The sides alternate, so background load hits both;
// each side sleeps while another is measured.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/cpu/machine_peaks.h"
#include "base/cpu/simd.h"
#include "base/error.h"
#include "base/system/log.h"
#include "base/text/text.h"
#include "bench/bench.h"
#include "bench/peer/bench_peer.h"
#include "bench/peer/peer_report.h"
#include "models/files/model_file.h"
#include "train/results/profile_report.h"

namespace trireme::bench {
namespace {

using OrderedJson = nlohmann::ordered_json;
using train::TimedStep;

constexpr std::chrono::milliseconds kSettle{20};  // until the other side's threads sleep
constexpr int kProfileRounds = 5;
constexpr double kMegabyte = 1e6, kMilliseconds = 1e3;
constexpr int kHeadWidth = 31;  // width of the columns model, batch, threads and V

// One way of running a step, and its time in each round.
struct Side {
  std::function<TimedStep(int steps)> run;
  std::vector<TimedStep> rounds;

  std::vector<TimedStep> sorted() const {
    std::vector<TimedStep> all = rounds;
    std::sort(all.begin(), all.end(), [](const TimedStep& a, const TimedStep& b) { return a.total < b.total; });
    return all;
  }
  // The median round as a whole, so that its phases belong together.
  TimedStep median() const { return sorted()[(rounds.size() - 1) / 2]; }
  double best() const { return sorted().front().total; }
};

// Alternates the sides: A, B, C, A, B, C ... Each turn runs some measured steps after half as many warm-up steps (cores
// that slept need some tens of milliseconds to reach full speed).
void take_turns(const std::vector<Side*>& sides, int rounds) {
  std::vector<int> steps;
  for (Side* side : sides) {
    double seconds = side->run(1).total;
    if (seconds < kSlowSeconds) seconds = std::min(side->run(1).total, side->run(1).total);
    steps.push_back(steps_of_a_round(seconds));
  }
  for (int round = 0; round < rounds; ++round)
    for (std::size_t s = 0; s < sides.size(); ++s) {
      std::this_thread::sleep_for(kSettle);
      if (steps[s] > 1) sides[s]->run(steps[s] / 2);
      sides[s]->rounds.push_back(sides[s]->run(steps[s]));
    }
}

struct Result {
  BenchCase bench;
  TimedStep ours;
  double best_seconds = 0, memory_bytes = 0;
  std::optional<TimedStep> fast;              // with --reduce both
  std::optional<double> one_thread, one_oar;  // seconds with 1 thread at the same V, with 1 thread at V = 1
  struct Theirs {
    TimedStep step;
    double best_seconds = 0, memory_bytes = 0;
    std::string way;
  };
  std::optional<Theirs> theirs, theirs_bf16;
  std::vector<TriedWay> tried;
  std::string their_version, why_no_ratio;

  bool has_ratio() const { return theirs && why_no_ratio.empty(); }
  double ratio(const Theirs& their) const { return their.step.total / ours.total; }
};

Result measure(const BenchCase& bench, const Peer& peer, const base::CorePlan& cores, const base::Settings& settings) {
  Result result;
  result.bench = bench;
  result.memory_bytes = own_memory_bytes(bench, settings.text("isa"));
  std::vector<std::unique_ptr<train::StepBenchmark>> rigs;
  const auto own_side = [&](int threads, int oars, crew::Reduce reduce) {
    BenchCase other = bench;
    other.threads = threads;
    other.oars = oars;
    other.reduce = reduce;
    rigs.push_back(make_rig(other, cores));
    // Each rig's thread team pins or unpins this thread when it is created, so set the affinity of this rig here.
    const bool pinned = !base::cpus_to_pin(cores, other.busy_threads()).empty();
    return Side{[rig = rigs.back().get(), pinned, &cores](int steps) {
                  if (pinned)
                    base::pin_this_thread(cores.cpus[0]);
                  else
                    base::unpin_this_thread(cores.cpus);
                  return rig->run(steps);
                },
                {}};
  };
  std::unique_ptr<PytorchStep> pytorch;  // created first: its processes must not inherit a pinned affinity
  if (!peer.python.empty()) pytorch = std::make_unique<PytorchStep>(bench, peer, settings, cores);
  if (pytorch) result.why_no_ratio = pytorch->ways().why_no_ratio();
  if (!result.why_no_ratio.empty()) base::log_warn("{}", result.why_no_ratio);
  Side ours = own_side(bench.threads, bench.oars, bench.reduce), theirs, theirs_bf16, fast, one_thread, one_oar;
  std::vector<Side*> sides{&ours};
  if (pytorch) {
    theirs.run = [&](int steps) { return pytorch->run_float32(steps); };
    sides.push_back(&theirs);
    if (pytorch->ways().bf16) {
      theirs_bf16.run = [&](int steps) { return pytorch->run_bf16(steps); };
      sides.push_back(&theirs_bf16);
    }
  }
  if (settings.text("reduce") == "both") {
    fast = own_side(bench.threads, bench.oars, crew::Reduce::fast);
    sides.push_back(&fast);
  }
  if (bench.threads > 1) {
    one_thread = own_side(1, bench.oars, bench.reduce);
    sides.push_back(&one_thread);
  }
  if (bench.oars > 1) {
    one_oar = own_side(1, 1, bench.reduce);
    sides.push_back(&one_oar);
  }
  take_turns(sides, static_cast<int>(settings.integer("repeats", 1, 10000)));
  result.ours = ours.median();
  result.best_seconds = ours.best();
  if (fast.run) result.fast = fast.median();
  if (one_thread.run) result.one_thread = one_thread.median().total;
  if (one_oar.run) result.one_oar = one_oar.median().total;
  if (pytorch) {
    const FastestWays& ways = pytorch->ways();
    result.theirs = {theirs.median(), theirs.best(), ways.memory_bytes, ways.float32->text()};
    if (ways.bf16)
      result.theirs_bf16 = {theirs_bf16.median(), theirs_bf16.best(), ways.bf16->memory_bytes, ways.bf16->text()};
    result.tried = ways.tried;
    result.their_version = ways.float32->version;
  }
  return result;
}

// 1 if there is no step to compare with.
double speedup(const std::optional<double>& base_seconds, const Result& result) {
  return base_seconds ? *base_seconds / result.ours.total : 1;
}
double exact_cost_percent(const Result& result) { return 100 * (result.ours.total / result.fast->total - 1); }

OrderedJson side_json(const TimedStep& step, double best_seconds, double memory_bytes) {
  return {{"forward_ms", kMilliseconds * step.phases.forward}, {"backward_ms", kMilliseconds * step.phases.backward},
          {"update_ms", kMilliseconds * step.phases.update},   {"total_ms", kMilliseconds * step.total},
          {"best_ms", kMilliseconds * best_seconds},           {"memory_mb", memory_bytes / kMegabyte}};
}

OrderedJson result_json(const Result& result) {
  const BenchCase& bench = result.bench;
  OrderedJson json{{"model", bench.model},
                   {"batch", bench.batch},
                   {"threads", bench.threads},
                   {"oars", bench.oars},
                   {"reduce", bench.reduce == crew::Reduce::fast ? "fast" : "exact"},
                   {"ours_ms", kMilliseconds * result.ours.total},
                   {"ours", side_json(result.ours, result.best_seconds, result.memory_bytes)},
                   {"speedup_same_oars", speedup(result.one_thread, result)},
                   {"speedup_one_oar", speedup(result.one_oar, result)}};
  if (result.fast) json["exact_cost_percent"] = exact_cost_percent(result);
  if (!result.theirs) return json;
  json["peer"] = "pytorch";
  json["peer_version"] = result.their_version;
  json["peer_way"] = result.theirs->way;
  json["peer_ms"] = kMilliseconds * result.theirs->step.total;
  json["theirs"] = side_json(result.theirs->step, result.theirs->best_seconds, result.theirs->memory_bytes);
  if (result.has_ratio()) json["ratio"] = result.ratio(*result.theirs);
  if (!result.has_ratio()) json["why_no_ratio"] = result.why_no_ratio;
  json["memory_ratio"] = result.theirs->memory_bytes / result.memory_bytes;
  if (const auto& bf16 = result.theirs_bf16) {
    json["peer_bf16_way"] = bf16->way;
    json["peer_bf16_ms"] = kMilliseconds * bf16->step.total;
    json["theirs_bf16"] = side_json(bf16->step, bf16->best_seconds, bf16->memory_bytes);
    if (result.has_ratio()) json["ratio_bf16"] = result.ratio(*bf16);
  }
  json["peer_ways"] = OrderedJson::parse(ways_json(result.tried));
  return json;
}

void print_side(const std::string& head, const char* name, const TimedStep& step, double memory_bytes) {
  fmt::print("{:<{}} {:<8} {:>9.2f} {:>9.2f} {:>8.2f} {:>9.2f} {:>10.1f}", head, kHeadWidth, name,
             kMilliseconds * step.phases.forward, kMilliseconds * step.phases.backward,
             kMilliseconds * step.phases.update, kMilliseconds * step.total, memory_bytes / kMegabyte);
}

void print_result(const Result& result) {
  const BenchCase& bench = result.bench;
  print_side(fmt::format("{:<17} {:>5} {:>3} {:>3}", bench.model, bench.batch, bench.threads, bench.oars), "trireme",
             result.ours, result.memory_bytes);
  fmt::print("\n");
  const auto ratio = [&](const Result::Theirs& their) {
    return result.has_ratio() ? fmt::format("{:.2f}x", result.ratio(their)) : std::string("none");
  };
  if (const auto& their = result.theirs) {
    print_side("", "pytorch", their->step, their->memory_bytes);
    fmt::print(" {:>7} {:>6.2f}x {:>7}  {}\n", ratio(*their), their->memory_bytes / result.memory_bytes, "",
               their->way);
  }
  if (const auto& their = result.theirs_bf16) {
    print_side("", "  bf16", their->step, their->memory_bytes);
    fmt::print(" {:>7} {:>7} {:>7}  {}\n", "", "", ratio(*their), their->way);
  }
  print_unavailable(result.tried, kHeadWidth);
  if (result.one_thread || result.one_oar)
    fmt::print("{:<{}} speed-up {:.2f} over 1 thread at V = {}, {:.2f} over 1 thread at V = 1\n", "", kHeadWidth,
               speedup(result.one_thread, result), bench.oars, speedup(result.one_oar, result));
  if (result.fast)
    fmt::print("{:<{}} exact sums cost {:+.1f} % (fast: {:.2f} ms)\n", "", kHeadWidth, exact_cost_percent(result),
               kMilliseconds * result.fast->total);
  std::fflush(stdout);
}

// The peer builds the network of a file from its description.
void check_can_compare(const BenchCase& bench) {
  if (!models::is_model_file(bench.model)) return check_has_counterpart(bench.model, peer::pytorch());
  const graph::Network network = network_of(*bench.info);
  const std::string_view loss = network.nodes()[static_cast<std::size_t>(network.loss())].op->kind();
  if (loss != "softmax_cross_entropy")
    base::user_error("{} ends in {}, but PyTorch's side of bench step predicts classes; leave --peer out", bench.model,
                     loss);
}

}  // namespace

void bench_step(const train::Registry& registry, const base::Settings& settings) {
  base::set_active_isa(base::parse_isa(settings.text("isa")));
  const std::vector<BenchCase> cases = bench_cases(registry, settings);
  settings.integer("repeats", 1, 10000);
  kinds_of_ways(settings);
  if (const std::string& file = settings.text("tune"); !file.empty()) return tune(cases, file);
  const Peer peer = find_peer(settings, "pytorch", "step.py");
  for (const BenchCase& one : cases) {
    (void)network_of(*one.info);  // one that cannot be built is a user's mistake
    if (!peer.python.empty()) check_can_compare(one);
  }
  const base::CorePlan cores = base::plan_cores();
  const bool json = settings.flag("json");
  if (!json) {
    fmt::print(
        "One training step: milliseconds (medians of {} rounds taken in turns), memory in MB, PyTorch / Trireme (its "
        "best float32 way, its best bf16 way; Trireme computes in float32); {}, {} cores\n",
        settings.text("repeats"), base::isa_name(base::active_isa()), cores.usable);
    fmt::print("{:<17} {:>5} {:>3} {:>3} {:<8} {:>9} {:>9} {:>8} {:>9} {:>10} {:>7} {:>7} {:>7}\n", "model", "batch",
               "thr", "V", "", "forward", "backward", "update", "total", "memory", "float32", "memory", "bf16");
  }
  OrderedJson results = OrderedJson::array();
  std::map<int, base::Peak> peaks;
  for (const BenchCase& bench : cases) {
    const Result result = measure(bench, peer, cores, settings);
    results.push_back(result_json(result));
    if (!json) print_result(result);
    if (!settings.flag("profile")) continue;
    const auto [peak, is_new] = peaks.try_emplace(bench.busy_threads());
    if (is_new) peak->second = base::measure_peak(peak->first, base::cpus_to_pin(cores, peak->first));
    const observe::Profile profile = profile_step(bench, cores, kProfileRounds).profile;
    results.back()["profile"] = OrderedJson::parse(train::profile_json(profile, peak->second));
    for (const std::string& line : train::profile_lines(profile, peak->second))
      if (!json) fmt::print("{}\n", line);
  }
  if (json) fmt::print("{}\n", OrderedJson{{"results", results}}.dump());
}

}  // namespace trireme::bench
