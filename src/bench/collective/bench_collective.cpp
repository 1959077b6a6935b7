// `bench collective`: measures an all-reduce between processes of this host, over message sizes, world sizes,
// transports and algorithms; optionally against gloo (through PyTorch) or MPI. The sides alternate.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "bench/collective/bench_collective.h"
#include "comm/builtin_transports.h"
#include "comm/collective/all_reduce.h"
#include "watch/show/plot.h"
#include "watch/show/svg.h"

namespace trireme::bench {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kMicroseconds = 1e6, kGigabyte = 1e9;

// One of the alternating sides.
struct Side {
  CollectiveRun side;
  int count = 1;
  std::vector<CollectiveTime> times{};

  void prepare() { count = steps_of_a_round(std::min(side.run(1).seconds, side.run(1).seconds)); }
  // The median round.
  CollectiveTime median() const {
    std::vector<CollectiveTime> sorted = times;
    std::ranges::sort(sorted, {}, &CollectiveTime::seconds);
    return sorted[(sorted.size() - 1) / 2];
  }
};

// The peer that --peer names; empty name: none.
struct CollectivePeer {
  std::string name;
  std::function<CollectiveRun(const CollectiveCase& bench, const base::CorePlan& cores)> start{};
};

CollectivePeer find_collective_peer(const base::Settings& settings) {
  const std::string name = settings.text("peer");
  if (name.empty()) return {};
  settings.check_choice("peer", std::array<std::string, 2>{"gloo", "mpi"});
  if (name == "gloo")
    return {name,
            [gloo = find_peer(settings, name, "collective.py")](
                const CollectiveCase& bench, const base::CorePlan& cores) { return start_gloo(bench, gloo, cores); }};
  expect_mpi_peer();
  return {name, start_mpi};
}

struct Way {
  int rounds = 1;
  double idle_seconds = 0;  // how long to measure the idle processes' CPU time; 0: not at all
  base::CorePlan cores;
};

OrderedJson measure(const CollectiveCase& bench, const CollectivePeer& peer, const Way& way) {
  std::vector<Side> sides{{start_own(bench, way.cores)}};
  if (bench.algorithm == kExact) {
    CollectiveCase plain = bench;
    plain.algorithm = "auto";
    sides.push_back({start_own(plain, way.cores)});
  }
  if (!peer.name.empty()) sides.push_back({peer.start(bench, way.cores)});
  for (Side& side : sides) side.prepare();
  for (int round = 0; round < way.rounds; ++round)
    for (Side& side : sides) side.times.push_back(side.side.run(side.count));
  const CollectiveTime ours = sides[0].median();
  // Bus bandwidth as the field defines it: the bytes that every rank must send and receive at least.
  const double bus_bytes = 2.0 * static_cast<double>(bench.bytes) * (bench.world - 1) / bench.world;
  const double rank_gigabytes = static_cast<double>(bench.bytes) / kGigabyte * bench.world;
  OrderedJson json{{"collective", "all-reduce"},
                   {"world", bench.world},
                   {"transport", bench.transport->name},
                   {"algorithm", bench.algorithm},
                   {"bytes", bench.bytes},
                   {"ours_us", kMicroseconds * ours.seconds},
                   {"bus_gbytes_per_second", bus_bytes / ours.seconds / kGigabyte}};
  if (bench.bytes > 0) json["cpu_seconds_per_gbyte"] = ours.cpu_seconds / rank_gigabytes;
  if (bench.algorithm == kExact) {
    json["partials"] = bench.partials;
    json["times_float32"] = ours.seconds / sides[1].median().seconds;
  }
  if (!peer.name.empty()) {
    const CollectiveTime theirs = sides.back().median();
    json["peer"] = peer.name;
    json["peer_us"] = kMicroseconds * theirs.seconds;
    json["ratio"] = theirs.seconds / ours.seconds;
    if (bench.bytes > 0 && theirs.cpu_seconds > 0)
      json["peer_cpu_seconds_per_gbyte"] = theirs.cpu_seconds / rank_gigabytes;
  }
  if (way.idle_seconds > 0)
    json["idle_percent"] = 100 * sides[0].side.idle(way.idle_seconds).cpu_seconds / bench.world / way.idle_seconds;
  return json;
}

void print_row(const CollectiveCase& bench, const OrderedJson& row) {
  fmt::print("{:>5} {:<9} {:<12} {:>11} {:>12.1f} {:>9.2f} {:>8.2f}", bench.world, bench.transport->name,
             bench.algorithm, bench.bytes, row["ours_us"].get<double>(), row["bus_gbytes_per_second"].get<double>(),
             row.value("cpu_seconds_per_gbyte", 0.0));
  if (row.contains("ratio"))
    fmt::print(" {:>12.1f} {:>7.1f}x", row["peer_us"].get<double>(), row["ratio"].get<double>());
  if (row.contains("times_float32"))
    fmt::print("  {:.2f} times float32's ({} partial{} at most)", row["times_float32"].get<double>(), bench.partials,
               bench.partials == 1 ? "" : "s");
  if (row.contains("idle_percent")) fmt::print("  idle {:.3f} % of a core", row["idle_percent"].get<double>());
  fmt::print("\n");
  std::fflush(stdout);
}

// Bandwidth over message size, one line per world, transport and algorithm, and for the peer.
watch::Plot plot_of(const OrderedJson& results) {
  watch::Plot plot{"All-reduce of float32", "bytes", "bus bandwidth, GB/s", {}};
  const auto add = [&](const std::string& name, const OrderedJson& row, const char* time) {
    const double bus_bytes = row["ours_us"].get<double>() * row["bus_gbytes_per_second"].get<double>();  // bytes / 1000
    if (bus_bytes <= 0) return;
    auto line = std::ranges::find(plot.lines, name, &watch::PlotLine::name);
    if (line == plot.lines.end()) line = plot.lines.insert(line, {name, {}});
    line->points.emplace_back(row["bytes"].get<double>(), bus_bytes / row[time].get<double>());
  };
  for (const OrderedJson& row : results) {
    const std::string where = fmt::format("{} ranks, {}", row["world"].get<int>(), row["transport"].get<std::string>());
    add(fmt::format("{}, {}", where, row["algorithm"].get<std::string>()), row, "ours_us");
    if (row.contains("peer_us"))
      add(fmt::format("{} ranks, {}", row["world"].get<int>(), row["peer"].get<std::string>()), row, "peer_us");
  }
  return plot;
}

// The transport that --transport names. User error if `bench collective` does not offer it or it is not usable here.
const comm::Transport& find_transport(const base::Settings& settings, const comm::Transports& transports,
                                      const std::string& name) {
  const comm::Transport* transport = transports.find(name);
  if (!transport || !transport->offered.bench_collective)
    base::user_error("{} is '{}', expected {}", settings.label("transport"), name,
                     base::join_or(comm::offered_names(transports, &comm::Offers::bench_collective)));
  expect_installed(*transport);
  return *transport;
}

std::vector<CollectiveCase> collective_cases(const base::Settings& settings, const comm::Transports& transports) {
  std::vector<CollectiveCase> cases;
  for (const std::string& world : base::split(settings.text("world"), ','))
    for (const std::string& transport : base::split(settings.text("transport"), ','))
      for (const std::string& algorithm : base::split(settings.text("algorithm"), ','))
        for (const std::string& bytes : base::split(settings.text("bytes"), ',')) {
          CollectiveCase one{static_cast<int>(base::parse_int(settings.label("world"), world)), nullptr, algorithm,
                             base::parse_int(settings.label("bytes"), bytes)};
          if (one.world < 1 || one.world > 64)
            base::user_error("{} is {}, expected 1 to 64", settings.label("world"), one.world);
          if (one.bytes < 0 || one.bytes % 4 != 0 || one.bytes > std::int64_t{1} << 33)
            base::user_error("{} is {}, expected a multiple of 4 up to 8 GB", settings.label("bytes"), one.bytes);
          one.transport = &find_transport(settings, transports, transport);
          if (algorithm != kExact) comm::parse_algorithm(algorithm);
          one.partials = static_cast<int>(settings.integer("partials", 1, 16));
          if (one.world == 1) one.partials = 1;
          cases.push_back(one);
        }
  return cases;
}

double idle_seconds(const base::Settings& settings) {
  const double seconds = settings.number("idle-seconds");
  if (seconds < 0 || seconds > 100)
    base::user_error("{} is {}, expected 0 to 100", settings.label("idle-seconds"), seconds);
  return seconds;
}

}  // namespace

void bench_collective(const train::Registry& registry, const base::Settings& settings) {
  const std::vector<CollectiveCase> cases = collective_cases(settings, registry.transports);
  const Way way{static_cast<int>(settings.integer("repeats", 1, 10000)), idle_seconds(settings), base::plan_cores()};
  const CollectivePeer peer = find_collective_peer(settings);
  const std::string plot = settings.text("plot");
  if (!plot.empty()) watch::expect_new_plot(plot);
  const bool json = settings.flag("json");
  if (!json) {
    fmt::print("All-reduce of float32 between processes of this host: medians of {} rounds; {} cores\n", way.rounds,
               way.cores.usable);
    fmt::print("{:>5} {:<9} {:<12} {:>11} {:>12} {:>9} {:>8} {:>12} {:>8}\n", "world", "transport", "algorithm",
               "bytes", "time us", "bus GB/s", "CPU s/GB", (peer.name.empty() ? "peer" : peer.name) + " us", "ratio");
  }
  OrderedJson results = OrderedJson::array();
  for (const CollectiveCase& bench : cases) {
    results.push_back(measure(bench, peer, way));
    if (!json) print_row(bench, results.back());
  }
  if (json) fmt::print("{}\n", OrderedJson{{"results", results}}.dump());
  if (plot.empty()) return;
  base::write_text_atomically(plot, watch::to_svg(plot_of(results)));
  if (!json) fmt::print("plot: {}\n", plot);
}

}  // namespace trireme::bench
