// `trireme trace`: what decided the time of a run's steps.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "cli/cli.h"
#include "strategy/phases.h"
#include "watch/records/run_record.h"
#include "watch/trace/critical_path.h"

namespace trireme::cli {
namespace {

constexpr std::array kTraceOptions{base::OptionSpec{"How", "json", "", "no", "print the path as one JSON object"}};

// Nullopt: some of the run's strategies are, or this program does not know them.
std::optional<bool> is_synchronous(const train::Registry& registry, const watch::RunRecord& run) try {
  const auto configs = strategy::parse_configs(registry.strategies, run.strategy, static_cast<int>(run.workers));
  const auto synchronous =
      std::ranges::count_if(configs, [](const auto& one) { return one.config->traits().is_synchronous; });
  if (synchronous != 0 && synchronous != std::ssize(configs)) return std::nullopt;
  return synchronous != 0;
} catch (const base::Error&) {
  return std::nullopt;
}

int run_trace(const train::Registry& registry, const base::Settings& settings, const Arguments& arguments) {
  if (arguments.size() != 1) base::user_error("say which run, as in: trireme trace runs/a");
  const watch::RunRecord run = watch::expect_run(arguments[0]);
  const watch::CriticalPath path =
      watch::critical_path_of(watch::read_trace(run.folder / "trace.json"), is_synchronous(registry, run));
  if (settings.flag("json"))
    fmt::print("{}\n", watch::path_json(path));
  else
    for (const std::string& line : watch::path_lines(path)) fmt::print("{}\n", line);
  return 0;
}

}  // namespace

Verb trace_verb() {
  return {"trace",
          "say what decided the time of a run's steps: which worker, phase and bucket, and what it would be without",
          "Example:\n  trireme trace runs/a",
          kTraceOptions,
          "run",
          run_trace};
}

}  // namespace trireme::cli
