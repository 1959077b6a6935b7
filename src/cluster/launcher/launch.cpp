#include "cluster/launcher/launch.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/system/clock.h"
#include "cluster/launch_info.h"
#include "cluster/launcher/launcher.h"
#include "cluster/launcher/start_on_host.h"
#include "cluster/random_token.h"

namespace trireme::cluster {
namespace {

// Fills in the defaults of what the caller left empty.
Job completed(Job job) {
  const auto world = static_cast<std::size_t>(job.world);
  base::check(job.world >= 1 && !job.command.empty(), "a job of {} processes with a command of {} words", job.world,
              job.command.size());
  if (job.hosts.empty()) job.hosts.resize(world);
  for (std::string& host : job.hosts)
    if (is_here(host)) host.clear();
  if (job.names.empty())
    for (int rank = 0; rank < job.world; ++rank) job.names.push_back(fmt::format("rank {}", rank));
  base::check(job.hosts.size() == world && job.names.size() == world, "{} hosts and {} names for {} processes",
              job.hosts.size(), job.names.size(), world);
  if (job.directory.empty()) job.directory = std::filesystem::current_path().string();
  return job;
}

}  // namespace

Launcher::Launcher(const Job& job) : job_(completed(job)), started_ns_(base::now_ns()), log_merger_(job_.names) {
  for (int rank = 0; rank < job_.world; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    members_.push_back({job_.names[at], job_.hosts[at]});
  }
}

void Launcher::start() {
  const comm::Address rendezvous = rendezvous_of(job_), held = held_rendezvous(job_, rendezvous);
  LaunchInfo launch_info;
  launch_info.world = job_.world;
  launch_info.token = random_token();
  const auto is_far = [](const Member& one) { return !one.host.empty(); };
  launch_info.launcher = std::any_of(members_.begin(), members_.end(), is_far) ? "ssh" : "local";
  launch_info.transport = job_.transport;
  launch_info.tls = job_.tls;
  rendezvous_.address = first().host.empty() ? held : rendezvous;
  rendezvous_.token = launch_info.token;
  rendezvous_.tls = job_.tls;
  exit_notifier_ = std::make_unique<ExitNotifier>(rendezvous_);
  const std::vector<std::string> variables = whole_environment();
  for (Member& member : members_) {
    const bool is_first = &member == &members_.front();
    member.process = start_on_host(job_, member.host, variables, is_first);
    launch_info.rendezvous = is_first ? held : rendezvous;
    member.process->write(to_line(launch_info) + "\n");
    ++launch_info.rank;
  }
}

int launch(const Job& job) { return Launcher(job).run(); }

}  // namespace trireme::cluster
