// `bench rank`: one rank of `bench collective`, told what to do on standard input. Under mpirun rank 0 is told, and
// answers, for all.
#include <fmt/core.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cli/bench.h"
#include "comm/join.h"
#include "comm/mpi.h"

namespace trireme::cli {
namespace {

using Json = nlohmann::json;

constexpr double kPatienceSeconds = 3600;  // for the next line, which comes when other sides had their turns

comm::Group join(const Json& request) {
  comm::JoinOptions options;
  options.address = {"127.0.0.1", request.at("port")};
  options.token = "bench";
  options.rank = request.at("rank");
  options.world = request.at("world");
  options.tls = request.at("transport") == "tls";
  options.only_tcp = options.tls || request.at("transport") == "tcp";
  return comm::join(options);
}

// Seconds of an all-reduce.
double run(comm::Group& group, std::shared_ptr<const comm::Window>& window, const Json& request) {
  const auto algorithm = comm::parse_algorithm(request.at("algorithm").get<std::string>());
  const std::size_t bytes = request.at("bytes");
  if (!window || window->own().size() < bytes) window = group.allocate(bytes);
  const std::span<float> data(reinterpret_cast<float*>(window->own().data()), bytes / sizeof(float));
  const int count = request.at("count");
  group.all_reduce(data, comm::Reduction::sum, algorithm);
  group.barrier();
  const std::int64_t start = base::now_ns();
  for (int i = 0; i < count; ++i) group.all_reduce(data, comm::Reduction::sum, algorithm);
  return base::seconds_since(start) / count;
}

void answer(const Json& reply) {
  fmt::print("{}\n", reply.dump());
  std::fflush(stdout);
}

// Rank 0's next line, on all ranks; false at the end.
bool share_line(comm::Group& group, std::string& line) {
  if (group.rank() == 0 && !std::getline(std::cin, line)) line.clear();
  std::uint64_t size = line.size();
  group.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  line.resize(size);
  group.broadcast(std::as_writable_bytes(std::span(line)), 0);
  return size > 0;
}

void run_under_mpirun() {
  comm::MpiOptions options;
  options.deadline_seconds = kPatienceSeconds;
  comm::Group group = comm::join_mpi(options);
  std::shared_ptr<const comm::Window> window;
  for (std::string line; share_line(group, line);) {
    const Json request = Json::parse(line);
    Json reply = Json::object();
    if (request.at("do") == "run") {
      float slowest = static_cast<float>(run(group, window, request));
      group.all_reduce(std::span(&slowest, 1), comm::Reduction::max);
      reply["seconds"] = slowest;
    }
    if (group.rank() == 0) answer(reply);
  }
}

}  // namespace

void bench_rank(const base::Settings& settings) {
  if (settings.text("transport") == "mpi") return run_under_mpirun();
  std::optional<comm::Group> group;
  std::shared_ptr<const comm::Window> window;
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line);
    Json reply = Json::object();
    if (request.at("do") == "join")
      group.emplace(join(request));
    else
      reply["seconds"] = run(*group, window, request);
    answer(reply);
  }
}

}  // namespace trireme::cli
