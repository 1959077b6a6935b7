#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/system/beside_program.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "bench/collective/bench_collective.h"
#include "bench/environment.h"
#include "comm/transport/mpi/mpi.h"
#include "comm/transport/tcp/socket.h"
#include "peer/answering_process.h"

namespace trireme::bench {
namespace {

using Json = nlohmann::json;
namespace fs = base::fs;

constexpr double kDeadlineSeconds = 120, kLeaveSeconds = 20;
constexpr const char* kMpiPeer = "trireme_mpi_peer";

// The processes of a group; ask() sends a request to all of them at once.
template <class Process>
class Ranks {
 public:
  explicit Ranks(std::vector<std::unique_ptr<Process>> processes) : processes_(std::move(processes)) {}

  // Returns the largest "seconds" and the sum of the "cpu_seconds" of their answers (0 if absent).
  CollectiveTime ask(const std::function<Json(int rank)>& request) {
    std::vector<std::thread> threads;
    std::vector<CollectiveTime> times(processes_.size());
    std::vector<std::exception_ptr> errors(processes_.size());
    for (std::size_t rank = 0; rank < processes_.size(); ++rank)
      threads.emplace_back([&, rank] {
        try {
          const Json answer =
              Json::parse(processes_[rank]->ask(request(static_cast<int>(rank)).dump(), kDeadlineSeconds));
          times[rank] = {answer.value("seconds", 0.0), answer.value("cpu_seconds", 0.0)};
        } catch (...) {
          errors[rank] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
    CollectiveTime all;
    for (const CollectiveTime& one : times) {
      all.seconds = std::max(all.seconds, one.seconds);
      all.cpu_seconds += one.cpu_seconds;
    }
    return all;
  }

 private:
  std::vector<std::unique_ptr<Process>> processes_;
};

// Starts the processes and joins them; the result runs the case's all-reduce.
template <class Process, class Start>
CollectiveRun run_of(const CollectiveCase& bench, int processes, const Start& start) {
  std::vector<std::unique_ptr<Process>> all;
  for (int rank = 0; rank < processes; ++rank) all.push_back(start(rank));
  const auto ranks = std::make_shared<Ranks<Process>>(std::move(all));
  const int port = comm::unused_port();
  ranks->ask([&](int rank) {
    return Json{
        {"do", "join"}, {"port", port}, {"rank", rank}, {"world", bench.world}, {"transport", bench.transport->name}};
  });
  const auto run = [ranks, bench](int count) {
    return ranks->ask([&](int) {
      return Json{{"do", "run"},
                  {"bytes", bench.bytes},
                  {"count", count},
                  {"algorithm", bench.algorithm},
                  {"partials", bench.partials}};
    });
  };
  const auto idle = [ranks](double seconds) {
    return ranks->ask([&](int) { return Json{{"do", "idle"}, {"seconds", seconds}}; });
  };
  return {run, idle};
}

// All ranks of a world, started by a transport's own launcher. Rank 0 takes requests and answers for all.
class LauncherJob {
 public:
  LauncherJob(const std::string& what, const std::vector<std::string>& command, const std::vector<int>& cpus)
      : what_(what), child_(what, command, cpus) {}
  ~LauncherJob() { child_.finish(kLeaveSeconds); }
  std::string ask(std::string_view line, double deadline_seconds) {
    try {
      return child_.ask(line, deadline_seconds);
    } catch (const base::Error&) {
      for (const std::string& said : child_.error_lines())
        if (names_a_rank(said)) base::run_error("{} failed: {}", what_, said);
      throw;
    }
  }

 private:
  // True for our own error lines and mpirun's line about a killed rank; other output of mpirun does not help our users.
  static bool names_a_rank(const std::string& line) {
    return line.starts_with(base::program_name() + ": ") || line.find("noticed that process rank") != std::string::npos;
  }

  std::string what_;
  peer::AnsweringProcess child_;
};

CollectiveRun start_job(const CollectiveCase& bench, const std::string& what, std::vector<std::string> launcher,
                        const std::vector<std::string>& program, const base::CorePlan& cores) {
  launcher.insert(launcher.end(), program.begin(), program.end());
  return run_of<LauncherJob>(bench, 1, [&](int) { return std::make_unique<LauncherJob>(what, launcher, cores.cpus); });
}

void expect_launcher(const comm::RequiredLauncher& launcher) {
  for (const std::string& folder : base::split(environment("PATH"), ':'))
    if (std::error_code ignored; fs::exists(fs::path(folder) / launcher.program, ignored)) return;
  base::user_error("{} was not found in PATH; install {}", launcher.program, launcher.package);
}

}  // namespace

CollectiveRun start_own(const CollectiveCase& bench, const base::CorePlan& cores) {
  const std::vector<std::string> program{base::this_program(), "bench", "rank", "--transport", bench.transport->name};
  if (const auto& launcher = bench.transport->launcher)
    return start_job(bench, fmt::format("the {} job", launcher->title), launcher->command(bench.world), program, cores);
  return run_of<peer::AnsweringProcess>(bench, bench.world, [&](int rank) {
    return std::make_unique<peer::AnsweringProcess>(fmt::format("rank {}", rank), program, cores.cpus);
  });
}

CollectiveRun start_gloo(const CollectiveCase& bench, const Peer& peer, const base::CorePlan& cores) {
  return run_of<peer::Script>(bench, bench.world, [&](int) {
    return std::make_unique<peer::Script>(peer::pytorch().title, peer.python, peer.script, std::vector<std::string>{},
                                          cores.cpus);
  });
}

CollectiveRun start_mpi(const CollectiveCase& bench, const base::CorePlan& cores) {
  return start_job(bench, "MPI", comm::mpirun_command(bench.world), {base::find_beside_program(kMpiPeer)}, cores);
}

void expect_installed(const comm::Transport& transport) {
  if (transport.expect_installed) transport.expect_installed();
  if (transport.launcher) expect_launcher(*transport.launcher);
}

void expect_mpi_peer() {
  comm::find_mpi_module();
  if (base::find_beside_program(kMpiPeer).empty())
    base::user_error("the program {} is missing beside this one; build or install Trireme again", kMpiPeer);
  expect_launcher(comm::mpirun());
}

}  // namespace trireme::bench
