// The program of the tests; and, as `test_cluster MODE`, what the tests and scripts of this folder start:
//   launch JOB   launches a job, given as JSON
//   seat         prints the seat that it was given
//   rank PART    takes its seat, joins its group and plays a part
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cluster/launch_info.h"
#include "cluster/launcher/control_pipe.h"
#include "cluster/launcher/launch.h"
#include "comm/membership/join.h"

namespace trireme::cluster {
namespace {

using Json = nlohmann::json;

Job job_from(const Json& json) {
  Job job;
  job.command = json.at("command");
  job.world = json.at("world");
  job.hosts = json.value("hosts", job.hosts);
  job.names = json.value("names", job.names);
  job.ssh = json.value("ssh", job.ssh);
  job.directory = json.value("directory", job.directory);
  job.transport = json.value("transport", job.transport);
  job.tls = json.value("tls", job.tls);
  job.ending_seconds = json.value("ending_seconds", job.ending_seconds);
  return job;
}

int print_seat() {
  const auto seat = take_seat();
  fmt::print("{}\n", seat ? to_line(*seat) : "none");
  return 0;
}

void add_up(comm::Group& group) {
  std::vector<float> data(1000, 1.0f);
  group.all_reduce(data, comm::Reduction::sum);
  base::check(data[999] == static_cast<float>(group.world()), "the sum is {}", data[999]);
}

// "sum": adds up once. "die": rank 2 kills itself in the middle. "freeze": rank 0 stops itself. "wait": works until its
// launcher interrupts it or is gone.
int play(const std::string& part, bool tls) {
  const auto seat = take_seat();
  if (!seat) base::user_error("nobody gave this process a seat");
  std::atomic<bool> is_interrupted = false;
  std::optional<ControlPipe> control_pipe;
  if (seat->has_control_pipe) control_pipe.emplace([&] { is_interrupted = true; }, [] { ::_exit(3); });
  comm::JoinOptions options;
  options.address = seat->meeting;
  options.token = seat->token;
  options.rank = seat->rank;
  options.world = seat->world;
  options.tls = options.only_tcp = tls;
  options.join_seconds = options.deadline_seconds = 20;
  options.patience.ending_seconds = 5;
  if (part == "freeze") options.patience.silent_seconds = 1;
  comm::Group group = comm::join(options);
  add_up(group);
  if (group.rank() == 0) fmt::print("{} ranks met by {}\n", group.world(), seat->launcher);
  std::fflush(stdout);
  if (part == "die" && group.rank() == 2) ::raise(SIGKILL);
  if (part == "freeze" && group.rank() == 0) ::raise(SIGSTOP);
  while (part != "sum") {
    add_up(group);
    std::vector<float> ends(1, is_interrupted ? 1.0f : 0.0f);
    group.all_reduce(ends, comm::Reduction::max);
    if (ends[0] > 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  group.barrier();
  return 0;
}

int run(const std::string& mode, const std::string& argument, bool tls) {
  try {
    if (mode == "launch") return launch(job_from(Json::parse(argument)));
    if (mode == "rank") return play(argument, tls);
    return print_seat();
  } catch (const base::Error& error) {
    fmt::print(stderr, "trireme: {}\n", error.what());
    return error.exit_code();
  }
}

}  // namespace
}  // namespace trireme::cluster

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "launch" || mode == "seat" || mode == "rank")
    return trireme::cluster::run(mode, argc > 2 ? argv[2] : "", argc > 3 && std::string(argv[3]) == "tls");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
