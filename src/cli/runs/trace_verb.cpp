// `trireme trace`: what decided the time of a run's steps.
#include <fmt/core.h>

#include <array>

#include "base/error.h"
#include "cli/cli.h"
#include "watch/records/run_record.h"
#include "watch/trace/critical_path.h"

namespace trireme::cli {
namespace {

constexpr std::array kTraceOptions{base::OptionSpec{"How", "json", "", "no", "print the path as one JSON object"}};

int run_trace(const train::Registry&, const base::Settings& settings, const Arguments& arguments) {
  if (arguments.size() != 1) base::user_error("say which run, as in: trireme trace runs/a");
  const watch::RunRecord run = watch::expect_run(arguments[0]);
  const watch::CriticalPath path = watch::critical_path_of(watch::read_trace(run.folder / "trace.json"));
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
