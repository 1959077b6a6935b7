#include "bench/train/bench_train.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/system/files.h"
#include "base/system/log.h"
#include "base/system/temporary_folder.h"
#include "base/text/text.h"
#include "bench/peer/comparison.h"
#include "bench/peer/peer_report.h"
#include "comm/builtin_transports.h"
#include "graph/network.h"
#include "models/zoo.h"
#include "watch/show/bars.h"
#include "watch/show/svg.h"

namespace trireme::bench {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kSettle{50};  // until the other side's threads sleep
constexpr double kMilliseconds = 1e3;
constexpr int kHeadWidth = 37;  // width of the columns model, world, threads, batch and V
constexpr const char* kComparedSteps = "3";

using observe::kStepPhases, observe::StepPhase;

struct Result {
  TrainCase bench;
  struct Ours {
    int oars = 0;
    TrainSeconds step{};
  };
  std::vector<Ours> ours{};  // one per number of oars; first the one that matches the threads
  struct Theirs {
    TrainSeconds step;
    std::string way;
  };
  std::optional<Theirs> theirs{}, theirs_bf16{};
  std::vector<TriedWay> tried{};
  std::string their_version{}, why_no_ratio{};

  bool has_ratio() const { return theirs && why_no_ratio.empty(); }
};

// The median repetition as a whole, so that its phases belong together.
TrainSeconds median_of(std::vector<TrainSeconds> all) {
  const auto middle = all.begin() + (std::ssize(all) - 1) / 2;
  std::ranges::nth_element(all, middle, {}, &TrainSeconds::total);
  return *middle;
}

std::vector<int> worlds_of(const base::Settings& settings) {
  std::vector<int> all;
  for (const std::string& text : base::split(settings.text("world"), ',')) {
    const std::int64_t world = base::parse_int(settings.label("world"), text);
    if (world < 1 || world > 4096) base::user_error("{} is {}, expected 1 ... 4096", settings.label("world"), world);
    all.push_back(static_cast<int>(world));
  }
  return all;
}

std::vector<TrainCase> cases_of(const train::Registry& registry, const base::Settings& settings,
                                const base::CorePlan& cores) {
  std::vector<TrainCase> all;
  if (settings.text("reduce") == "both") base::user_error("bench train takes --reduce exact or fast, one at a time");
  peer::TrainOptions more;
  for (const char* name : {"isa", "reduce", "kernel-table"})
    if (settings.is_set(name)) more[name] = settings.text(name);
  // A transport that train does not know by name is the one train chooses by itself on one host.
  const std::vector<std::string> names = comm::offered_names(registry.transports, &comm::Offers::bench_train);
  const comm::Transport& transport = registry.transports.get(settings.choice("transport", names));
  if (transport.offered.train) more["transport"] = transport.name;
  const auto oars = static_cast<int>(settings.integer("oars", 0, 1 << 16));
  for (const BenchCase& one : bench_cases(registry, settings))
    for (const int world : worlds_of(settings)) {
      const auto needed = static_cast<std::size_t>(world) * static_cast<std::size_t>(one.threads);
      if (needed > cores.cpus.size())
        base::user_error("{} processes with {} thread{} each need {} cores, and {} are usable", world, one.threads,
                         one.threads == 1 ? "" : "s", needed, cores.cpus.size());
      std::vector<int> numbers{oars};
      if (oars == 0) {
        // One oar per thread, because PyTorch's processes also take their batches whole; and the default of `trireme
        // train`, if that gives every worker at least one.
        numbers = {world * static_cast<int>(std::min<std::int64_t>(one.threads, one.batch))};
        const int usual = graph::default_oars(network_of(*one.info), one.batch * world);
        if (usual != numbers[0] && usual >= world) numbers.push_back(usual);
      }
      all.push_back({one.model, world, one.threads, one.batch, numbers,
                     std::vector<int>(cores.cpus.begin(), cores.cpus.begin() + static_cast<std::ptrdiff_t>(needed)),
                     more, one.info});
    }
  return all;
}

// A speed comparison is meaningless unless both sides compute the same.
void expect_equal(const train::Registry& registry, const std::string& model, const base::Settings& settings) {
  base::Settings comparing(comparison_options());
  comparing.set("model", model);
  comparing.set("steps", kComparedSteps);
  if (settings.is_set("python")) comparing.set("python", settings.text("python"));
  Comparison comparison(registry, comparing);
  comparison.find_peer();
  comparison.options().levels = {"op-equal", "update-equal", "step-equal"};  // same-bits does not involve the peer
  for (const compare::Level& level : comparison.run().levels)
    if (!level.passed)
      base::run_error("{} does not compute the same in Trireme and in the peer, so nothing is measured; {} fails: {}",
                      model, level.name, level.summary);
}

Repetition repetition_for(double step_seconds) {
  constexpr double kSeconds = 1.5, kLong = 0.5;
  constexpr int kMost = 200;
  const int least = step_seconds > kLong ? 10 : 20;
  return {step_seconds > kLong ? 3 : 8, std::clamp(static_cast<int>(std::ceil(kSeconds / step_seconds)), least, kMost)};
}

Result measure(const TrainCase& bench, const Peer& peer, const base::Settings& settings, int repeats) {
  Result result{.bench = bench};
  const base::TemporaryFolder folder("bench-train");
  const base::fs::path data = folder.path() / "data";
  std::unique_ptr<PytorchTraining> pytorch;
  constexpr double kUnknown = 0.05;
  // Each of PyTorch's processes holds a copy of its dataset in memory, so it gets a small one.
  if (!peer.python.empty())
    pytorch = std::make_unique<PytorchTraining>(bench, peer, settings, folder.path(), bench.share * 20);
  if (pytorch) result.why_no_ratio = pytorch->ways().why_no_ratio();
  if (!result.why_no_ratio.empty()) base::log_warn("{}", result.why_no_ratio);
  const Repetition repetition = repetition_for(pytorch ? pytorch->ways().float32->seconds : kUnknown);
  write_random_dataset(data, *bench.info, bench.batch() * (repetition.all() + 1));
  std::vector<std::vector<TrainSeconds>> ours(bench.oars.size());
  std::vector<TrainSeconds> theirs, theirs_bf16;
  for (int i = 0; i < repeats; ++i) {
    for (std::size_t v = 0; v < bench.oars.size(); ++v) {
      std::this_thread::sleep_for(kSettle);
      ours[v].push_back(run_own(bench, bench.oars[v], repetition, data, folder.path() / "run"));
    }
    if (!pytorch) continue;
    std::this_thread::sleep_for(kSettle);
    theirs.push_back(pytorch->run_float32(repetition));
    if (!pytorch->ways().bf16) continue;
    std::this_thread::sleep_for(kSettle);
    theirs_bf16.push_back(pytorch->run_bf16(repetition));
  }
  for (std::size_t v = 0; v < bench.oars.size(); ++v) result.ours.push_back({bench.oars[v], median_of(ours[v])});
  if (!pytorch) return result;
  const FastestWays& ways = pytorch->ways();
  result.theirs = {median_of(theirs), ways.float32->text()};
  if (ways.bf16) result.theirs_bf16 = {median_of(theirs_bf16), ways.bf16->text()};
  result.tried = ways.tried;
  result.their_version = ways.float32->version;
  return result;
}

OrderedJson side_json(const TrainSeconds& side) {
  OrderedJson json{{"total_ms", kMilliseconds * side.total}};
  for (const StepPhase& phase : kStepPhases)
    json[std::string(phase.name) + "_ms"] = kMilliseconds * side.phases.*phase.seconds;
  json["rest_ms"] = kMilliseconds * side.rest();
  return json;
}

OrderedJson result_json(const Result& result, const Result::Ours& ours) {
  const TrainCase& bench = result.bench;
  const auto samples = static_cast<double>(bench.batch());
  OrderedJson json{{"model", bench.model},
                   {"world", bench.world},
                   {"threads", bench.threads},
                   {"batch", bench.batch()},
                   {"oars", ours.oars},
                   {"ours_ms", kMilliseconds * ours.step.total},
                   {"samples_per_second", samples / ours.step.total},
                   {"ours", side_json(ours.step)}};
  if (!result.theirs) return json;
  json["peer"] = "pytorch";
  json["peer_version"] = result.their_version;
  json["peer_way"] = result.theirs->way;
  json["peer_ms"] = kMilliseconds * result.theirs->step.total;
  json["peer_samples_per_second"] = samples / result.theirs->step.total;
  json["theirs"] = side_json(result.theirs->step);
  if (result.has_ratio()) json["ratio"] = result.theirs->step.total / ours.step.total;
  if (!result.has_ratio()) json["why_no_ratio"] = result.why_no_ratio;
  if (const auto& bf16 = result.theirs_bf16) {
    json["peer_bf16_way"] = bf16->way;
    json["peer_bf16_ms"] = kMilliseconds * bf16->step.total;
    json["theirs_bf16"] = side_json(bf16->step);
    if (result.has_ratio()) json["ratio_bf16"] = bf16->step.total / ours.step.total;
  }
  json["peer_ways"] = OrderedJson::parse(ways_json(result.tried));
  return json;
}

void print_head() {
  fmt::print("{:<17} {:>5} {:>3} {:>5} {:>3} {:<8} {:>9}", "model", "world", "thr", "batch", "V", "", "total");
  for (const StepPhase& phase : kStepPhases) fmt::print(" {:>9}", phase.name);
  fmt::print(" {:>8} {:>11} {:>7} {:>7}\n", "rest", "samples/s", "float32", "bf16");
}

void print_side(const std::string& head, const char* name, const TrainSeconds& side, double samples) {
  fmt::print("{:<{}} {:<8} {:>9.2f}", head, kHeadWidth, name, kMilliseconds * side.total);
  for (const StepPhase& phase : kStepPhases) fmt::print(" {:>9.2f}", kMilliseconds * side.phases.*phase.seconds);
  fmt::print(" {:>8.2f} {:>11.1f}", kMilliseconds * side.rest(), samples / side.total);
}

// Prints the ratios beside our rows, one per number of oars.
void print_result(const Result& result) {
  const TrainCase& bench = result.bench;
  const auto samples = static_cast<double>(bench.batch());
  const auto ratio = [&](const std::optional<Result::Theirs>& their, const Result::Ours& ours) -> std::string {
    if (!their) return "";
    return result.has_ratio() ? fmt::format("{:.2f}x", their->step.total / ours.step.total) : "none";
  };
  for (const Result::Ours& ours : result.ours) {
    print_side(fmt::format("{:<17} {:>5} {:>3} {:>5} {:>3}", bench.model, bench.world, bench.threads, bench.batch(),
                           ours.oars),
               "trireme", ours.step, samples);
    fmt::print(" {:>7} {:>7}\n", ratio(result.theirs, ours), ratio(result.theirs_bf16, ours));
  }
  if (const auto& their = result.theirs) {
    print_side("", "pytorch", their->step, samples);
    fmt::print("  {}\n", their->way);
  }
  if (const auto& their = result.theirs_bf16) {
    print_side("", "  bf16", their->step, samples);
    fmt::print("  {}\n", their->way);
  }
  print_unavailable(result.tried, kHeadWidth);
  std::fflush(stdout);
}

// Scaled per network: the peer's step (or ours if there is no peer) is 100.
watch::Bars bars_of(const std::vector<Result>& results) {
  watch::Bars bars{"A training step", results[0].theirs ? "percent of PyTorch's step" : "percent", {}, {}};
  for (const StepPhase& phase : kStepPhases) bars.parts.emplace_back(phase.name);
  bars.parts.emplace_back("rest");
  for (const Result& result : results) {
    const double whole = result.theirs ? result.theirs->step.total : result.ours[0].step.total;
    const auto bar = [&](const std::string& name, const TrainSeconds& side) {
      watch::Bar one{name, fmt::format("{:.3g} ms", kMilliseconds * side.total), {}};
      for (const StepPhase& phase : kStepPhases) one.parts.push_back(100 * (side.phases.*phase.seconds) / whole);
      one.parts.push_back(100 * side.rest() / whole);
      return one;
    };
    const TrainCase& bench = result.bench;
    watch::BarGroup group{fmt::format("{}, {} x {}", bench.model, bench.world, bench.threads), {}};
    for (const Result::Ours& ours : result.ours)
      group.bars.push_back(bar(&ours == &result.ours[0] ? "Trireme" : fmt::format("V = {}", ours.oars), ours.step));
    if (result.theirs) group.bars.push_back(bar("PyTorch", result.theirs->step));
    if (result.theirs_bf16) group.bars.push_back(bar("bf16", result.theirs_bf16->step));
    bars.groups.push_back(std::move(group));
  }
  return bars;
}

}  // namespace

void bench_train(const train::Registry& registry, const base::Settings& settings) {
  const base::CorePlan cores = base::plan_cores();
  const std::vector<TrainCase> cases = cases_of(registry, settings, cores);
  const auto repeats = static_cast<int>(settings.integer("repeats", 1, 10000));
  kinds_of_ways(settings);
  const std::string& plot = settings.text("plot");
  if (!plot.empty()) watch::expect_new_plot(plot);
  const Peer peer = find_peer(settings, "pytorch", "ddp.py");
  for (const TrainCase& one : cases)
    if (!peer.python.empty()) check_has_counterpart(one.model, peer::pytorch());
  const bool json = settings.flag("json");
  if (!json) {
    fmt::print(
        "A training step, milliseconds (the one in the middle of each of {} repetitions in turns, and of those the "
        "one in the middle); V: oars, one for each thread and as many as train takes by itself\n",
        repeats);
    print_head();
  }
  std::vector<Result> results;
  for (const TrainCase& bench : cases) {
    const bool is_new = results.empty() || results.back().bench.model != bench.model;
    if (!peer.python.empty() && is_new) expect_equal(registry, bench.model, settings);
    results.push_back(measure(bench, peer, settings, repeats));
    if (!json) print_result(results.back());
  }
  if (!plot.empty()) base::write_text_atomically(plot, watch::to_svg(bars_of(results)));
  if (!json) return;
  OrderedJson all = OrderedJson::array();
  for (const Result& result : results)
    for (const Result::Ours& ours : result.ours) all.push_back(result_json(result, ours));
  fmt::print("{}\n", OrderedJson{{"results", all}}.dump());
}

}  // namespace trireme::bench
