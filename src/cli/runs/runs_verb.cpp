// `trireme runs`: the runs of a folder as a table.
#include <fmt/core.h>

#include <array>

#include "base/text/text.h"
#include "cli/cli.h"
#include "watch/records/run_table.h"

namespace trireme::cli {
namespace {

using Option = base::OptionSpec;

constexpr const char* kDefaultFolder = "runs";

constexpr std::array kRunsOptions{
    Option{"Which runs", "filter", "LIST", "",
           "only runs whose columns contain, or whose options are: model=resnet,state=finished,seed=2"},
    Option{"How", "sort", "COLUMN", "name", "sort by a column"},
    Option{"How", "json", "", "no", "print an array with one JSON object per run"},
};

int run_runs(const train::Registry&, const base::Settings& settings, const Arguments& arguments) {
  const std::string folder = first_of(arguments);
  std::vector<watch::RunRecord> runs = watch::read_runs(folder.empty() ? kDefaultFolder : folder);
  runs = watch::sort_runs(watch::filter_runs(std::move(runs), settings.text("filter")), settings.text("sort"));
  if (settings.flag("json")) {
    fmt::print("{}\n", watch::table_json(runs));
    return 0;
  }
  if (runs.empty()) {
    fmt::print("no runs in {}\n", folder.empty() ? kDefaultFolder : folder);
    return 0;
  }
  for (const std::string& line : watch::table_lines(runs)) fmt::print("{}\n", line);
  return 0;
}

}  // namespace

Verb runs_verb() {
  return {"runs",
          "list the runs of a folder as a table",
          "Examples:\n"
          "  trireme runs\n"
          "  trireme runs experiments --filter model=resnet,state=finished --sort accuracy",
          kRunsOptions,
          "folder",
          run_runs,
          {{"sort", base::join(watch::run_columns(), ", ")}}};
}

}  // namespace trireme::cli
