#include "compare/levels/same_bits.h"

#include <fmt/format.h>

#include "base/text/text.h"

namespace trireme::compare {
namespace {

struct Way {
  std::string text;
  int workers;
  TrainOptions options{};
};

// The ways for which the experiment has enough oars and steps.
std::vector<Way> ways_for(const train::Experiment& experiment) {
  const std::vector<Way> all{
      {"2 threads", 1, {{"threads", "2"}}},
      {"3 threads", 1, {{"threads", "3"}}},
      {"2 workers", 2, {{"strategy", "allreduce"}}},
      {"3 workers", 3, {{"strategy", "allreduce"}}},
      {"2 workers with a server", 2, {{"strategy", "ps:mode=sync"}}},
      {"a switch from the one to the other", 2, {{"strategy", "switch:at=50%,from=allreduce,to=ps:mode=sync"}}}};
  std::vector<Way> possible;
  for (const Way& way : all) {
    const bool switches = way.options.contains("strategy") && way.options.at("strategy").starts_with("switch");
    if (way.workers > experiment.oars || (switches && experiment.total_steps < 2)) continue;
    possible.push_back(way);
    possible.back().options["workers"] = std::to_string(way.workers);
  }
  return possible;
}

}  // namespace

Level same_bits(const train::Experiment& experiment, const OurRuns& runs, const std::string& sha256) {
  Level level{.name = "same-bits"};
  std::vector<std::string> same;
  for (const Way& way : ways_for(experiment)) {
    if (runs.train(way.options).weights_sha256 == sha256) {
      same.push_back(way.text);
      continue;
    }
    level.passed = false;
    level.summary = fmt::format("other weights than with one thread: {}", way.text);
    return level;
  }
  level.summary = "one thread, " + base::join(same, ", ");
  return level;
}

}  // namespace trireme::compare
