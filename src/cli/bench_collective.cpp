// `bench collective`: an all-reduce between processes of this host, over sizes, worlds, transports and algorithms; also
// against gloo (through PyTorch), in turns.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/bench_peer.h"
#include "comm/join.h"
#include "peer/pytorch.h"

namespace trireme::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = base::fs;

constexpr double kDeadlineSeconds = 120, kMicroseconds = 1e6, kGigabyte = 1e9;

struct CollectiveCase {
  int world = 2;
  std::string transport, algorithm;
  std::int64_t bytes = 0;
};

// Processes that run collectives together; all are asked at once.
template <class Process>
class Ranks {
 public:
  explicit Ranks(std::vector<std::unique_ptr<Process>> processes) : processes_(std::move(processes)) {}

  // The largest of their answers' "seconds", where they have any.
  double ask(const std::function<Json(int rank)>& request) {
    std::vector<std::thread> threads;
    std::vector<double> seconds(processes_.size());
    std::vector<std::exception_ptr> errors(processes_.size());
    for (std::size_t rank = 0; rank < processes_.size(); ++rank)
      threads.emplace_back([&, rank] {
        try {
          const Json answer =
              Json::parse(processes_[rank]->ask(request(static_cast<int>(rank)).dump(), kDeadlineSeconds));
          seconds[rank] = answer.value("seconds", 0.0);
        } catch (...) {
          errors[rank] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
    return *std::max_element(seconds.begin(), seconds.end());
  }

 private:
  std::vector<std::unique_ptr<Process>> processes_;
};

Ranks<peer::Child> start_own(const CollectiveCase& bench, const base::CorePlan& cores) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  std::vector<std::unique_ptr<peer::Child>> processes;
  for (int rank = 0; rank < bench.world; ++rank)
    processes.push_back(std::make_unique<peer::Child>(fmt::format("rank {}", rank),
                                                      std::vector<std::string>{self, "bench", "rank"}, cores.cpus));
  Ranks<peer::Child> ranks(std::move(processes));
  const int port = comm::unused_port();
  ranks.ask([&](int rank) {
    return Json{{"do", "join"}, {"port", port}, {"rank", rank}, {"world", bench.world}, {"transport", bench.transport}};
  });
  return ranks;
}

Ranks<peer::Pytorch> start_gloo(int world, const Peer& peer, const base::CorePlan& cores) {
  std::vector<std::unique_ptr<peer::Pytorch>> processes;
  for (int rank = 0; rank < world; ++rank)
    processes.push_back(
        std::make_unique<peer::Pytorch>(peer.python, peer.script, std::vector<std::string>{}, cores.cpus));
  Ranks<peer::Pytorch> ranks(std::move(processes));
  const int port = comm::unused_port();
  ranks.ask([&](int rank) { return Json{{"do", "join"}, {"port", port}, {"rank", rank}, {"world", world}}; });
  return ranks;
}

// One side in turns with another.
struct Side {
  std::function<double(int count)> run;
  int count = 1;
  std::vector<double> seconds;

  void prepare() { count = steps_of_a_round(std::min(run(1), run(1))); }
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() - 1) / 2];
  }
};

Json measure(const CollectiveCase& bench, const Peer& peer, int rounds, const base::CorePlan& cores) {
  auto own = start_own(bench, cores);
  std::optional<Ranks<peer::Pytorch>> gloo;
  if (!peer.python.empty()) gloo.emplace(start_gloo(bench.world, peer, cores));
  Side ours, theirs;
  ours.run = [&](int count) {
    return own.ask([&](int) {
      return Json{{"do", "run"}, {"bytes", bench.bytes}, {"count", count}, {"algorithm", bench.algorithm}};
    });
  };
  if (gloo)
    theirs.run = [&](int count) {
      return gloo->ask([&](int) { return Json{{"do", "run"}, {"bytes", bench.bytes}, {"count", count}}; });
    };
  ours.prepare();
  if (gloo) theirs.prepare();
  for (int round = 0; round < rounds; ++round) {
    ours.seconds.push_back(ours.run(ours.count));
    if (gloo) theirs.seconds.push_back(theirs.run(theirs.count));
  }
  // What every rank must send and receive at the least, as the field counts it.
  const double bus_bytes = 2.0 * static_cast<double>(bench.bytes) * (bench.world - 1) / bench.world;
  Json json{{"collective", "all-reduce"},
            {"world", bench.world},
            {"transport", bench.transport},
            {"algorithm", bench.algorithm},
            {"bytes", bench.bytes},
            {"ours_us", kMicroseconds * ours.median()},
            {"bus_gbytes_per_second", bus_bytes / ours.median() / kGigabyte}};
  if (gloo) {
    json["peer"] = "gloo";
    json["peer_us"] = kMicroseconds * theirs.median();
    json["ratio"] = theirs.median() / ours.median();
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
          if (transport != "shm" && transport != "tcp")
            base::user_error("{} is '{}', expected shm or tcp", settings.label("transport"), transport);
          comm::parse_algorithm(algorithm);
          cases.push_back(one);
        }
  return cases;
}

}  // namespace

void bench_collective(const base::Settings& settings) {
  const std::vector<CollectiveCase> cases = collective_cases(settings);
  const int rounds = static_cast<int>(settings.integer("repeats", 1, 10000));
  const Peer peer = find_peer(settings, "gloo", "collective.py");
  const base::CorePlan cores = base::plan_cores();
  const bool json = settings.flag("json");
  if (!json) {
    fmt::print("All-reduce of float32 between processes of this host: medians of {} rounds; {} cores\n", rounds,
               cores.usable);
    fmt::print("{:>5} {:<9} {:<9} {:>11} {:>12} {:>9} {:>12} {:>8}\n", "world", "transport", "algorithm", "bytes",
               "time us", "bus GB/s", "gloo us", "ratio");
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

void bench_rank(const base::Settings&) {
  std::optional<comm::Group> group;
  std::shared_ptr<const comm::Window> window;
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json request = Json::parse(line);
    Json answer = Json::object();
    if (request.at("do") == "join") {
      comm::JoinOptions options;
      options.address = {"127.0.0.1", request.at("port")};
      options.token = "bench";
      options.rank = request.at("rank");
      options.world = request.at("world");
      options.only_tcp = request.at("transport") == "tcp";
      group.emplace(comm::join(options));
    } else {
      const auto algorithm = comm::parse_algorithm(request.at("algorithm").get<std::string>());
      const std::size_t bytes = request.at("bytes");
      if (!window || window->own().size() < bytes) window = group->allocate(bytes);
      const std::span<float> data(reinterpret_cast<float*>(window->own().data()), bytes / sizeof(float));
      const int count = request.at("count");
      group->all_reduce(data, comm::Reduction::sum, algorithm);
      group->barrier();
      const std::int64_t start = base::now_ns();
      for (int i = 0; i < count; ++i) group->all_reduce(data, comm::Reduction::sum, algorithm);
      answer["seconds"] = base::seconds_since(start) / count;
    }
    fmt::print("{}\n", answer.dump());
    std::fflush(stdout);
  }
}

}  // namespace trireme::cli
