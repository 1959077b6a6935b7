#include "compare/sides/our_runs.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace trireme::compare {
namespace {

using Json = nlohmann::json;

std::vector<double> accuracies_in(const base::fs::path& metrics) {
  std::vector<double> all;
  std::istringstream lines(base::read_text(metrics.string()));
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json.at("type") == "epoch")
      all.push_back(json.at("test_accuracy").is_null() ? 0 : json["test_accuracy"].get<double>());
  }
  return all;
}

}  // namespace

OurRuns::OurRuns(TrainOptions options, base::fs::path folder)
    : options_(std::move(options)), folder_(std::move(folder)) {}

TrainedRun OurRuns::train(const TrainOptions& more) const {
  const base::fs::path run = folder_ / "run";
  TrainOptions all = options_;
  for (const auto& [name, value] : more) all[name] = value;
  all["run"] = run.string();
  const Json summary = Json::parse(peer::run_train(all));
  TrainedRun result{summary.at("weights_sha256"), accuracies_in(run / "metrics.jsonl")};
  base::fs::remove_all(run);
  return result;
}

}  // namespace trireme::compare
