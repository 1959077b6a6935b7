// `bench collective`: an all-reduce between processes of this host, over sizes, worlds, transports and algorithms; also
// against gloo (through PyTorch) or MPI, in turns.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/bench_collective.h"
#include "comm/all_reduce.h"

namespace trireme::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicroseconds = 1e6, kGigabyte = 1e9;

// One side in turns with another.
struct Side {
  CollectiveRun run;
  int count = 1;
  std::vector<double> seconds{};

  void prepare() { count = steps_of_a_round(std::min(run(1), run(1))); }
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() - 1) / 2];
  }
};

// Whom --peer names; empty: nobody.
struct CollectivePeer {
  std::string name;
  Peer gloo{};

  CollectiveRun start(const CollectiveCase& bench, const base::CorePlan& cores) const {
    return name == "mpi" ? start_mpi(bench, cores) : start_gloo(bench, gloo, cores);
  }
};

CollectivePeer find_collective_peer(const base::Settings& settings) {
  const std::string name = settings.text("peer");
  if (name.empty()) return {};
  settings.choice("peer", std::array<std::string, 2>{"gloo", "mpi"});
  if (name == "gloo") return {name, find_peer(settings, name, "collective.py")};
  expect_mpi();
  return {name};
}

Json measure(const CollectiveCase& bench, const CollectivePeer& peer, int rounds, const base::CorePlan& cores) {
  std::vector<Side> sides{{start_own(bench, cores)}};
  if (!peer.name.empty()) sides.push_back({peer.start(bench, cores)});
  for (Side& side : sides) side.prepare();
  for (int round = 0; round < rounds; ++round)
    for (Side& side : sides) side.seconds.push_back(side.run(side.count));
  const double ours = sides[0].median();
  // What every rank must send and receive at the least, as the field counts it.
  const double bus_bytes = 2.0 * static_cast<double>(bench.bytes) * (bench.world - 1) / bench.world;
  Json json{{"collective", "all-reduce"},
            {"world", bench.world},
            {"transport", bench.transport},
            {"algorithm", bench.algorithm},
            {"bytes", bench.bytes},
            {"ours_us", kMicroseconds * ours},
            {"bus_gbytes_per_second", bus_bytes / ours / kGigabyte}};
  if (sides.size() > 1) {
    json["peer"] = peer.name;
    json["peer_us"] = kMicroseconds * sides[1].median();
    json["ratio"] = sides[1].median() / ours;
  }
  return json;
}

std::vector<CollectiveCase> collective_cases(const base::Settings& settings) {
  std::vector<CollectiveCase> cases;
  for (const std::string& world : base::split(settings.text("world"), ','))
    for (const std::string& transport : base::split(settings.text("transport"), ','))
      for (const std::string& algorithm : base::split(settings.text("algorithm"), ','))
        for (const std::string& bytes : base::split(settings.text("bytes"), ',')) {
          CollectiveCase one{static_cast<int>(base::parse_int(settings.label("world"), world)), transport, algorithm,
                             base::parse_int(settings.label("bytes"), bytes)};
          if (one.world < 1 || one.world > 64)
            base::user_error("{} is {}, expected 1 to 64", settings.label("world"), one.world);
          if (one.bytes < 0 || one.bytes % 4 != 0 || one.bytes > std::int64_t{1} << 33)
            base::user_error("{} is {}, expected a multiple of 4 up to 8 GB", settings.label("bytes"), one.bytes);
          if (transport != "shm" && transport != "tcp" && transport != "tls" && transport != "mpi")
            base::user_error("{} is '{}', expected shm, tcp, tls or mpi", settings.label("transport"), transport);
          if (transport == "mpi") expect_mpi();
          comm::parse_algorithm(algorithm);
          cases.push_back(one);
        }
  return cases;
}

}  // namespace

void bench_collective(const base::Settings& settings) {
  const std::vector<CollectiveCase> cases = collective_cases(settings);
  const int rounds = static_cast<int>(settings.integer("repeats", 1, 10000));
  const CollectivePeer peer = find_collective_peer(settings);
  const base::CorePlan cores = base::plan_cores();
  const bool json = settings.flag("json");
  if (!json) {
    fmt::print("All-reduce of float32 between processes of this host: medians of {} rounds; {} cores\n", rounds,
               cores.usable);
    fmt::print("{:>5} {:<9} {:<9} {:>11} {:>12} {:>9} {:>12} {:>8}\n", "world", "transport", "algorithm", "bytes",
               "time us", "bus GB/s", (peer.name.empty() ? "peer" : peer.name) + " us", "ratio");
  }
  Json results = Json::array();
  for (const CollectiveCase& bench : cases) {
    results.push_back(measure(bench, peer, rounds, cores));
    if (json) continue;
    const Json& row = results.back();
    fmt::print("{:>5} {:<9} {:<9} {:>11} {:>12.1f} {:>9.2f}", bench.world, bench.transport, bench.algorithm,
               bench.bytes, row["ours_us"].get<double>(), row["bus_gbytes_per_second"].get<double>());
    if (row.contains("ratio"))
      fmt::print(" {:>12.1f} {:>7.1f}x", row["peer_us"].get<double>(), row["ratio"].get<double>());
    fmt::print("\n");
    std::fflush(stdout);
  }
  if (json) fmt::print("{}\n", Json{{"results", results}}.dump());
}

}  // namespace trireme::cli
