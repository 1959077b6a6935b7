// The program of the tests; and, as `test_cluster MODE`, what the tests and scripts of this folder start:
//   launch JOB   launches a job, given as JSON
//   launch-info  prints the launch info that it was given
//   rank PART    takes its launch info, joins its group and plays a part
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/system/beside_program.h"
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

int print_launch_info() {
  const auto launch_info = take_launch_info();
  fmt::print("{}\n", launch_info ? to_line(*launch_info) : "none");
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
  const auto launch_info = take_launch_info();
  if (!launch_info) base::user_error("nobody launched this process");
  std::atomic<bool> is_interrupted = false;
  std::optional<ControlPipe> control_pipe;
  if (launch_info->has_control_pipe)
    control_pipe.emplace(ControlPipe::Callbacks{[&] { is_interrupted = true; }, [] {}, [] { ::_exit(3); }});
  comm::JoinOptions options;
  options.address = launch_info->rendezvous;
  options.token = launch_info->token;
  options.rank = launch_info->rank;
  options.world = launch_info->world;
  options.tls = options.only_tcp = tls;
  options.join_seconds = options.deadline_seconds = 20;
  options.patience.ending_seconds = 5;
  if (part == "freeze") options.patience.silent_seconds = 1;
  comm::Group group = comm::join(options);
  add_up(group);
  if (group.rank() == 0) fmt::print("{} ranks met by {}\n", group.world(), launch_info->launcher);
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
    return print_launch_info();
  } catch (const base::Error& error) {
    fmt::print(stderr, "{}: {}\n", trireme::base::program_name(), error.what());
    return error.exit_code();
  }
}

}  // namespace
}  // namespace trireme::cluster

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "launch" || mode == "launch-info" || mode == "rank")
    return trireme::cluster::run(mode, argc > 2 ? argv[2] : "", argc > 3 && std::string(argv[3]) == "tls");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
