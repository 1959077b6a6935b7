// `trireme diff`: what two runs have in common and what not.
#include <fmt/core.h>

#include <array>

#include "base/error.h"
#include "cli/cli.h"
#include "watch/records/run_difference.h"

namespace trireme::cli {
namespace {

constexpr std::array kDiffOptions{
    base::OptionSpec{"How", "json", "", "no", "print the differences as one JSON object"}};

int run_diff(const train::Registry&, const base::Settings& settings, const Arguments& arguments) {
  if (arguments.size() != 2) base::user_error("say which two runs, as in: trireme diff runs/a runs/b");
  const watch::RunRecord a = watch::expect_run(arguments[0]), b = watch::expect_run(arguments[1]);
  const watch::RunDifference difference = watch::difference_of(a, b);
  if (settings.flag("json"))
    fmt::print("{}\n", watch::difference_json(a, b, difference));
  else
    for (const std::string& line : watch::difference_lines(a, b, difference)) fmt::print("{}\n", line);
  return 0;
}

}  // namespace

Verb diff_verb() {
  return {"diff",
          "say what differs between two runs: options, results, time, losses and weights",
          "Example:\n  trireme diff runs/a runs/b",
          kDiffOptions,
          "a b",
          run_diff};
}

}  // namespace trireme::cli
