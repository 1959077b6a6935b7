#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/system/beside_program.h"
#include "base/system/standard_streams.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/config_file.h"
#include "cluster/host_placement.h"
#include "cluster/launch_info.h"
#include "cluster/launcher/launch.h"
#include "comm/builtin_transports.h"
#include "comm/transport/transport.h"
#include "train/experiment/options.h"
#include "train/run/job.h"

namespace trireme::cli {
namespace {

// The job of a run with several processes; servers of their own come first, see strategy/common/role_map.h.
cluster::Job job_of(const base::Settings& settings, const strategy::RoleMap& roles) {
  cluster::Job job;
  job.world = roles.world();
  job.ssh = settings.text("ssh");
  job.port = static_cast<int>(settings.integer("port", 0, 65535));
  job.transport = settings.text("transport");
  job.tls = settings.flag("tls");
  job.directory = std::filesystem::current_path().string();
  const auto list = [&](const char* name) {
    const std::string& text = settings.text(name);
    return text.empty() ? std::vector<std::string>() : base::split(text, ',');
  };
  const std::vector<std::string> workers = cluster::place(roles.workers, list("hosts"));
  std::vector<std::string> servers = list("server-hosts");
  if (!servers.empty() && !roles.servers_apart)
    base::user_error(
        "--server-hosts needs --server-place own: servers in workers' processes run on the workers' hosts");
  if (servers.empty()) servers = workers;
  for (int process = 0; process < roles.world(); ++process) {
    const int worker = roles.worker_of(process);
    job.hosts.push_back(worker >= 0 ? workers[static_cast<std::size_t>(worker)]
                                    : servers[static_cast<std::size_t>(process) % servers.size()]);
    job.names.push_back(roles.name(process));
  }
  return job;
}

void print_summary(const std::string& summary) {
  try {
    base::print_text(stdout, summary + "\n");
  } catch (const base::Error& error) {
    const auto run = nlohmann::json::parse(summary).at("run").get<std::string>();
    base::run_error("{}; the run has ended well, and the summary is in {}/summary.json", error.what(), run);
  }
}

int run_train(const train::Registry& registry, const base::Settings& given, const Arguments&) {
  base::outlive_terminal();
  for (const char* name : {"resume", "config", "run"})  // an unset variable of a script would begin another run
    if (given.is_set(name) && given.text(name).empty()) base::user_error("--{} is empty; name a file or folder", name);
  base::Settings settings = given;
  if (const std::string& config = settings.text("config"); !config.empty()) read_config(settings, config);
  const auto launch_info = cluster::take_launch_info();
  if (!launch_info) {
    const base::Settings effective = train::effective_settings(registry, settings);
    train::check_settings(registry, effective);
    for (const char* name : {"watch-port", "watch-address", "watch-token-file", "watch-control"})
      if (given.is_set(name) && !effective.flag("watch"))
        base::user_error("--{} needs --watch, without which the run has no page", name);
    const strategy::RoleMap roles = train::role_map_of(registry, effective);
    const comm::Transport& transport = registry.transports.get(effective.text("transport"));
    if (transport.launcher)
      base::user_error("--transport {} is for processes that {} starts, as in: {} -n 4 trireme train ...",
                       transport.name, transport.launcher->program, transport.launcher->program);
    if (roles.world() > 1 || !effective.text("hosts").empty()) {
      cluster::Job job = job_of(effective, roles);
      job.command = base::command_line();
      job.command.at(0) = base::this_program();
      return cluster::launch(job);
    }
  }
  const std::string summary = train::train(registry, settings, launch_info);
  if (settings.flag("json") && !summary.empty()) print_summary(summary);
  return 0;
}

}  // namespace

Verb train_verb(const train::Registry& registry) {
  return {"train",
          "train a network and keep everything in a run folder",
          "Examples:\n"
          "  trireme train --model lenet5 --data fashion-mnist --epochs 5\n"
          "  trireme train --model resnet20-cifar --data cifar10 --data-dir ~/data --augment crop,flip --epochs 8 \\\n"
          "                --optimizer sgd:lr=0.1,momentum=0.9,weight-decay=1e-4 --schedule onecycle\n"
          "  trireme train --workers 3 --strategy allreduce\n"
          "  trireme train --workers 3 --strategy switch:at=50%,from=allreduce,to=ps:mode=async\n"
          "  trireme train --workers 6 --hosts node1,node2,node3 --strategy ps:mode=ssp,staleness=3 --servers 2\n"
          "  trireme train --resume runs/lenet5-fashion-mnist-1\n"
          "  trireme train --config experiment.toml --seed 2",
          train::train_options(),
          "",
          run_train,
          {{"transport", base::join_or(comm::offered_names(registry.transports, &comm::Offers::train))}}};
}

}  // namespace trireme::cli
