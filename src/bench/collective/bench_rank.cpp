// `bench rank`: one rank of `bench collective`, controlled through standard input. If the transport has its own
// launcher, rank 0 receives the requests and answers for all ranks.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "base/system/clock.h"
#include "bench/bench.h"
#include "bench/collective/bench_collective.h"
#include "comm/transport/transport.h"

namespace trireme::bench {
namespace {

using Json = nlohmann::json;

constexpr double kPatienceSeconds = 3600;  // for the next line, which waits for the other sides' turns

comm::JoinRequest join_request(const Json& request) {
  comm::JoinRequest made;
  made.address = {"127.0.0.1", request.at("port")};
  made.token = "bench";
  made.rank = request.at("rank");
  made.world = request.at("world");
  return made;
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The oar shares with the fewest oars in which the busiest rank holds `partials` subtrees of the oar tree.
comm::OarShares shares_of(int world, int partials) {
  for (int oars = world;; ++oars)
    // `first`: the oars of rank 0; every other rank has one, the last the rest.
    for (int first = 0; first + world <= oars + 1; ++first) {
      comm::OarShares shares{oars, {{0, first}}, {}};
      for (int rank = 1; rank < world; ++rank)
        shares.held.push_back({first + rank - 1, rank + 1 == world ? oars : first + rank});
      if (world == 1) shares.held[0] = {0, oars};
      const comm::ExactPlan plan(shares);
      std::int64_t most = 0;
      for (int rank = 0; rank < world; ++rank) most = std::max(most, plan.of_rank(rank).size());
      if (most == partials || world == 1) return shares;
    }
}

class Runner {
 public:
  explicit Runner(comm::Group group) : group_(std::move(group)) {}

  comm::Group& group() { return group_; }

  Json answer(const Json& request) {
    if (request.at("do") == "idle") {
      const double before = cpu_seconds();
      std::this_thread::sleep_for(std::chrono::duration<double>(request.at("seconds").get<double>()));
      return {{"seconds", request.at("seconds")}, {"cpu_seconds", cpu_seconds() - before}};
    }
    const std::function<void()> all_reduce = prepare(request);
    const int count = request.at("count");
    all_reduce();
    group_.barrier();
    const double before = cpu_seconds();
    const std::int64_t start = base::now_ns();
    for (int i = 0; i < count; ++i) all_reduce();
    return {{"seconds", base::seconds_since(start) / count}, {"cpu_seconds", (cpu_seconds() - before) / count}};
  }

 private:
  std::function<void()> prepare(const Json& request) {
    const std::string name = request.at("algorithm");
    const std::size_t bytes = request.at("bytes");
    const bool exact = name == kExact;
    const std::size_t arrays = exact ? request.at("partials").get<std::size_t>() : 1;
    if (!window_ || window_->own().size() < arrays * bytes) window_ = group_.allocate(arrays * bytes);
    const auto array = [&](std::size_t index) {
      return std::span(reinterpret_cast<float*>(window_->own().data()), arrays * bytes / sizeof(float))
          .subspan(index * bytes / sizeof(float), bytes / sizeof(float));
    };
    const std::span<float> data = array(0);
    if (!exact)
      return [this, data, algorithm = comm::parse_algorithm(name)] {
        group_.all_reduce(data, comm::Reduction::sum, algorithm);
      };
    const comm::ExactPlan plan(shares_of(group_.world(), request.at("partials")));
    std::vector<std::span<float>> partials;
    for (std::int64_t i = 0; i < plan.of_rank(group_.rank()).size(); ++i)
      partials.push_back(array(static_cast<std::size_t>(i)));  // the first also receives the result
    return [this, data, plan, partials] { group_.exact_all_reduce(plan, partials, data); };
  }

  comm::Group group_;
  std::shared_ptr<const comm::SharedWindow> window_;
};

void answer(const Json& reply) {
  fmt::print("{}\n", reply.dump());
  std::fflush(stdout);
}

// Broadcasts rank 0's next line to all ranks; false at the end.
bool share_line(comm::Group& group, std::string& line) {
  if (group.rank() == 0 && !std::getline(std::cin, line)) line.clear();
  std::uint64_t size = line.size();
  group.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  line.resize(size);
  group.broadcast(std::as_writable_bytes(std::span(line)), 0);
  return size > 0;
}

// The launcher has given the transport everything it needs to join.
void run_under_launcher(const comm::Transport& transport) {
  comm::JoinRequest join;
  join.deadline_seconds = kPatienceSeconds;
  Runner runner(transport.join(join));
  comm::Group& group = runner.group();
  for (std::string line; share_line(group, line);) {
    const Json request = Json::parse(line);
    Json reply = Json::object();
    if (request.at("do") != "join") {
      const Json own = runner.answer(request);
      float seconds = own.at("seconds"), cpu_seconds = own.at("cpu_seconds");
      group.all_reduce(std::span(&seconds, 1), comm::Reduction::max);
      group.all_reduce(std::span(&cpu_seconds, 1), comm::Reduction::sum);
      reply = {{"seconds", seconds}, {"cpu_seconds", cpu_seconds}};
    }
    if (group.rank() == 0) answer(reply);
  }
}

}  // namespace

void bench_rank(const train::Registry& registry, const base::Settings& settings) {
  const comm::Transports& transports = registry.transports;
  const comm::Transport& transport = transports.get(settings.text("transport"));
  if (transport.launcher) return run_under_launcher(transport);
  std::optional<Runner> runner;
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line);
    Json reply = Json::object();
    if (request.at("do") == "join")
      runner.emplace(transport.join(join_request(request)));
    else
      reply = runner->answer(request);
    answer(reply);
  }
}

}  // namespace trireme::bench
