#include "train/run_folder/resume.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "models/find_model.h"
#include "strategy/phases.h"
#include "train/run_folder/lower_rate.h"

namespace trireme::train {
namespace {

// Options that may change on resume: where, how fast and how long the run goes on, and its strategy; never its model
// or seed. The data may lie elsewhere: check_same_data() compares it.
bool free_on_resume(const std::string& name) {
  constexpr std::array kFree{"resume",
                             "threads",
                             "pin",
                             "data",
                             "data-dir",
                             "epochs",
                             "steps",
                             "checkpoint-every",
                             "keep",
                             "json",
                             "quiet",
                             "early-stopping",
                             "allow-other-bits",
                             "profile",
                             "tensorboard",
                             "hash-every",
                             "trace",
                             "strategy",
                             "workers",
                             "servers",
                             "server-place",
                             "assign",
                             "evaluate",
                             "hosts",
                             "server-hosts",
                             "ssh",
                             "port",
                             "transport",
                             "tls",
                             "heartbeat-timeout",
                             "stall-timeout",
                             "slow"};
  return name.starts_with("watch") || std::find(kFree.begin(), kFree.end(), name) != kFree.end();
}

bool is_same_value(const std::string& option, const std::string& before, const std::string& now) {
  if (before == now || (option == "target-scale" && now == "auto")) return true;
  return (option == "init-from" || option == "kernel-table") && base::absolute_path(before) == base::absolute_path(now);
}

}  // namespace

void check_data_exists(const Registry& registry, const base::Settings& settings, const std::string& run,
                       const std::string& advice) {
  const std::string& data = settings.text("data");
  std::error_code ignored;
  if (registry.readers.datasets.find(data) != nullptr || base::fs::exists(data, ignored)) return;
  base::user_error("the data of the run {}, {}, does not exist; if it lies elsewhere now, name the place: {}", run,
                   base::absolute_path(data), advice);
}

void check_known_model(const Registry& registry, const base::Settings& settings, const std::string& run) {
  if (stored_network(RunFolder::open(run))) return;
  if (const std::string& model = settings.text("model"); !models::knows_model(registry.models, model))
    base::user_error("the model '{}' of the run {} is not known to this program; use the program that trained it",
                     model, run);
}

base::Settings resumed_settings(const Registry& registry, const base::Settings& given) {
  if (given.is_set("run"))
    base::user_error("--run and --resume exclude each other: a resumed run goes on in its folder");
  base::Settings settings = settings_of_run(given.text("resume"));
  check_known_model(registry, settings, given.text("resume"));
  for (const auto& [name, value] : given.given()) {
    if (name == "validation" && same_validation(settings.text(name), value)) continue;
    if (free_on_resume(name) || !is_same_value(name, settings.text(name), value)) {
      if (!free_on_resume(name) && !(decides_rate(name) && has_diverged(RunFolder::open(given.text("resume")))))
        base::user_error("--{} cannot change when a run is resumed{}: it was '{}', now '{}'", name,
                         decides_rate(name) ? ", unless its loss became infinite or not a number" : "",
                         settings.text(name), value);
      settings.set(name, value);
    }
  }
  if (given.is_set("epochs") && !given.is_set("steps"))
    settings.set("steps", "0");  // the given --epochs replaces the run's --steps
  if (const std::string& now = settings.text("strategy");
      given.is_set("strategy") && !given.is_set("servers") &&
      (now == "auto" || !strategy::needs_servers(registry.strategies, now)))
    settings.set("servers", "0");  // the run's --servers were for its earlier strategy
  return settings;
}

std::vector<graph::KernelPrint> run_fingerprint(crew::Crew& crew, const Experiment& e) {
  std::vector<graph::KernelPrint> prints;
  const auto print = [&](const std::set<std::int64_t>& sizes, bool training) {
    for (const std::int64_t size : sizes)
      for (auto& each : graph::fingerprint(crew.program(size, training))) prints.push_back(std::move(each));
  };
  std::set<std::int64_t> trained, evaluated;
  for (const std::int64_t samples : {e.batch, e.drop_last ? 0 : e.train->size() % e.batch})
    for (const std::int64_t size : crew.oar_sizes(samples)) trained.insert(size);
  for (const auto& set : {e.validation, e.test})
    if (set)
      for (const std::int64_t size : crew.evaluation_sizes(set->size())) evaluated.insert(size);
  print(trained, true);
  print(evaluated, false);
  return prints;
}

void check_same_data(const RunFolder& folder, const Experiment& experiment) {
  if (stored_data_hash(folder) == data_hash(experiment)) return;
  base::user_error(
      "the data is not that of the run so far ({} training, {} test samples found); resume {} with the --data or "
      "--data-dir where the data lies that it began with",
      experiment.train->size(), experiment.test->size(), folder.path().string());
}

std::string check_same_kernels(const RunFolder& folder, const std::vector<graph::KernelPrint>& now, bool allow_others) {
  const std::vector<graph::KernelPrint> before = stored_fingerprint(folder);
  for (const graph::KernelPrint& print : now) {
    const auto same = [&](const graph::KernelPrint& old) {
      return old.kernel == print.kernel && old.hash == print.hash;
    };
    if (std::any_of(before.begin(), before.end(), same)) continue;
    if (!allow_others)
      base::user_error(
          "this machine computes '{}' with other bits than the run had so far; resume it where it began, "
          "or accept other bits with --allow-other-bits",
          print.kernel);
    return fmt::format("from here on with other bits than a run on one kind of machine: '{}' differs", print.kernel);
  }
  return {};
}

}  // namespace trireme::train
