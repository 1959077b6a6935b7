// `trireme report`: runs as one HTML page that can be printed.
#include <fmt/core.h>

#include <array>
#include <fstream>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "watch/report/report.h"

namespace trireme::cli {
namespace {

using Option = base::OptionSpec;

constexpr std::array kReportOptions{
    Option{"What to show", "title", "TEXT", "", "title of the report; default: the names of the runs"},
    Option{"Where to", "to", "FILE", "report.html", "the new page, .html; -o FILE for short"},
};

int run_report(const train::Registry&, const base::Settings& settings, const Arguments& arguments) {
  if (arguments.empty()) base::user_error("say which runs, as in: trireme report runs/a runs/b --to report.html");
  const std::string& file = settings.text("to");
  if (!file.ends_with(".html")) base::user_error("--to {} must end in .html", file);
  base::check_new_file("--to", file);
  std::vector<watch::RunRecord> runs;
  for (const std::string& folder : arguments)
    for (watch::RunRecord& run : watch::read_runs(folder)) runs.push_back(std::move(run));
  if (runs.empty()) base::user_error("there is no run in {}", base::join(arguments, ", "));
  const std::string page = watch::report_of(runs, settings.text("title"));
  base::write_text_atomically(file, page);
  fmt::print("{}: a report of {}\n", file, base::counted(static_cast<std::int64_t>(runs.size()), "run"));
  return 0;
}

}  // namespace

Verb report_verb() {
  return {"report",
          "write a report of runs as one HTML page, to be read or printed",
          "Examples:\n"
          "  trireme report runs/a --to a.html\n"
          "  trireme report runs/one runs/two runs/four --title 'Speed-up of resnet20' --to speed-up.html\n"
          "  trireme report runs --to all.html",
          kReportOptions,
          "run...",
          run_report};
}

}  // namespace trireme::cli
