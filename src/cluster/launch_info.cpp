#include "cluster/launch_info.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/text/text.h"
#include "cluster/slurm.h"

namespace trireme::cluster {
namespace {

using Json = nlohmann::json;

constexpr const char* kLaunchInfoVariable = "TRIREME_LAUNCH_INFO";
constexpr double kLineSeconds = 60;  // timeout; the launcher writes the line right after it starts the process
constexpr std::size_t kLongestLine = 4096;

// Reads byte by byte, because the bytes after the line belong to the control pipe.
std::string first_line(int input) {
  const std::int64_t deadline = base::in_seconds(kLineSeconds);
  std::string line;
  while (line.size() < kLongestLine) {
    const std::int64_t left_ms = (deadline - base::now_ns()) / 1'000'000;
    pollfd wait{input, POLLIN, 0};
    if (left_ms <= 0 || ::poll(&wait, 1, static_cast<int>(left_ms)) == 0) break;
    char next = 0;
    const ssize_t count = ::read(input, &next, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count == 1 && next == '\n') return line;
    if (count != 1) break;
    line += next;
  }
  base::user_error("{} is set, but no launch information came on standard input; unset it to start trireme by hand",
                   kLaunchInfoVariable);
}

std::optional<LaunchInfo> mpi_launch_info(const Environment& environment) {
  const std::string rank = environment("OMPI_COMM_WORLD_RANK"), size = environment("OMPI_COMM_WORLD_SIZE");
  if (rank.empty() || size.empty()) return std::nullopt;
  LaunchInfo launch_info;
  launch_info.rank = static_cast<int>(base::parse_int("OMPI_COMM_WORLD_RANK", rank));
  launch_info.world = static_cast<int>(base::parse_int("OMPI_COMM_WORLD_SIZE", size));
  launch_info.launcher = "mpi";
  launch_info.transport = "mpi";  // mpirun passes no rendezvous address, which the other transports need
  if (launch_info.world == 1) return std::nullopt;
  return launch_info;
}

}  // namespace

std::string to_line(const LaunchInfo& launch_info) {
  return Json{{"rank", launch_info.rank},
              {"world", launch_info.world},
              {"meeting", comm::to_text(launch_info.rendezvous)},
              {"token", launch_info.token},
              {"launcher", launch_info.launcher},
              {"transport", launch_info.transport},
              {"tls", launch_info.tls}}
      .dump();
}

LaunchInfo launch_info_from_line(const std::string& line) {
  LaunchInfo launch_info;
  try {
    const Json json = Json::parse(line);
    launch_info.rank = json.at("rank");
    launch_info.world = json.at("world");
    launch_info.rendezvous = comm::parse_address(json.at("meeting").get<std::string>());
    launch_info.token = json.at("token");
    launch_info.launcher = json.at("launcher");
    launch_info.transport = json.at("transport");
    launch_info.tls = json.at("tls");
  } catch (const Json::exception&) {  // its message may contain the token, so it is not printed
    base::user_error(
        "the first line on standard input is no launch information, though {} is set; unset it to start trireme by "
        "hand",
        kLaunchInfoVariable);
  }
  if (launch_info.rank < 0 || launch_info.rank >= launch_info.world)
    base::user_error("launch information of rank {} in a job of {}; ranks are 0 to {}", launch_info.rank,
                     launch_info.world, launch_info.world - 1);
  launch_info.has_control_pipe = true;
  return launch_info;
}

std::optional<LaunchInfo> take_launch_info(const Environment& environment, int input) {
  if (const std::string where = environment(kLaunchInfoVariable); !where.empty()) {
    if (where != "stdin") base::user_error("{} is '{}', only 'stdin' is known", kLaunchInfoVariable, where);
    return launch_info_from_line(first_line(input));
  }
  // mpirun is asked first: under Slurm it starts its daemons with srun, so its processes inherit the daemons' Slurm
  // variables, which do not describe them.
  if (auto launch_info = mpi_launch_info(environment)) return launch_info;
  return slurm_launch_info(environment);
}

std::optional<LaunchInfo> take_launch_info() {
  auto launch_info = take_launch_info(environment, STDIN_FILENO);
  forget(kLaunchInfoVariable);
  return launch_info;
}

}  // namespace trireme::cluster
