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

constexpr const char* kSeatVariable = "TRIREME_SEAT";
constexpr double kLineSeconds = 60;  // for a line that the launcher wrote before the process began
constexpr std::size_t kLongestLine = 4096;

// Byte by byte: what follows belongs to the control pipe.
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
  base::user_error("{} is set, but no seat came on standard input; unset it to start trireme by hand", kSeatVariable);
}

std::optional<LaunchInfo> mpi_seat(const Environment& environment) {
  const std::string rank = environment("OMPI_COMM_WORLD_RANK"), size = environment("OMPI_COMM_WORLD_SIZE");
  if (rank.empty() || size.empty()) return std::nullopt;
  LaunchInfo seat;
  seat.rank = static_cast<int>(base::parse_int("OMPI_COMM_WORLD_RANK", rank));
  seat.world = static_cast<int>(base::parse_int("OMPI_COMM_WORLD_SIZE", size));
  seat.launcher = "mpi";
  seat.transport = "mpi";  // mpirun gives no address at which another could meet
  if (seat.world == 1) return std::nullopt;
  return seat;
}

}  // namespace

std::string to_line(const LaunchInfo& seat) {
  return Json{{"rank", seat.rank},   {"world", seat.world},       {"meeting", comm::to_text(seat.meeting)},
              {"token", seat.token}, {"launcher", seat.launcher}, {"transport", seat.transport},
              {"tls", seat.tls}}
      .dump();
}

LaunchInfo seat_from_line(const std::string& line) {
  LaunchInfo seat;
  try {
    const Json json = Json::parse(line);
    seat.rank = json.at("rank");
    seat.world = json.at("world");
    seat.meeting = comm::parse_address(json.at("meeting").get<std::string>());
    seat.token = json.at("token");
    seat.launcher = json.at("launcher");
    seat.transport = json.at("transport");
    seat.tls = json.at("tls");
  } catch (const Json::exception&) {  // its text may hold the token
    base::user_error("the first line on standard input is no seat, though {} is set; unset it to start trireme by hand",
                     kSeatVariable);
  }
  if (seat.rank < 0 || seat.rank >= seat.world)
    base::user_error("a seat of rank {} in a job of {}; ranks are 0 to {}", seat.rank, seat.world, seat.world - 1);
  seat.has_control_pipe = true;
  return seat;
}

std::optional<LaunchInfo> take_seat(const Environment& environment, int input) {
  if (const std::string where = environment(kSeatVariable); !where.empty()) {
    if (where != "stdin") base::user_error("{} is '{}', only 'stdin' is known", kSeatVariable, where);
    return seat_from_line(first_line(input));
  }
  // mpirun starts its daemons by srun, so processes under it have Slurm's variables as well, which tell about those.
  if (auto seat = mpi_seat(environment)) return seat;
  return slurm_seat(environment);
}

std::optional<LaunchInfo> take_seat() {
  auto seat = take_seat(environment, STDIN_FILENO);
  forget(kSeatVariable);
  return seat;
}

}  // namespace trireme::cluster
