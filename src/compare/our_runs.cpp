#include "compare/our_runs.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "peer/child.h"

namespace trireme::compare {
namespace {

using Json = nlohmann::json;

constexpr double kDeadlineSeconds = 24 * 3600;

std::vector<double> accuracies_in(const base::fs::path& metrics) {
  std::vector<double> all;
  std::istringstream lines(base::read_text(metrics.string()));
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (json.at("type") == "epoch") all.push_back(json.at("test_accuracy").is_null() ? 0 : json["test_accuracy"].get<double>());
  }
  return all;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  return text.substr(text.find_last_of('\n', end) + 1, end + 1);
}

}  // namespace

OurRuns::OurRuns(std::string program, TrainOptions options, base::fs::path folder)
    : program_(std::move(program)), options_(std::move(options)), folder_(std::move(folder)) {}

TrainedRun OurRuns::train(const TrainOptions& more) const {
  const base::fs::path run = folder_ / "run";
  TrainOptions all = options_;
  for (const auto& [name, value] : more) all[name] = value;
  all["run"] = run.string();
  std::vector<std::string> words{program_, "train", "--json", "--quiet"};
  for (const auto& [name, value] : all) words.insert(words.end(), {"--" + name, value});
  peer::Child child("trireme train", words);
  if (const int code = child.finish(kDeadlineSeconds); code != 0)
    base::run_error("trireme train ended with code {}: {}", code, child.last_words());
  const Json summary = Json::parse(last_line(child.output()));
  TrainedRun result{summary.at("weights_sha256"), accuracies_in(run / "metrics.jsonl")};
  base::fs::remove_all(run);
  return result;
}

}  // namespace trireme::compare
