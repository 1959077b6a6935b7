#include "watch/records/run_record.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/run_folder/run_folder.h"

namespace trireme::watch {
namespace {

namespace fs = base::fs;
using Json = nlohmann::json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Json parsed_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Json::parse(in, nullptr, false);
}

double number_in(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_number() ? found->get<double>() : kNone;
}

std::int64_t integer_in(const Json& json, const char* name, std::int64_t otherwise) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

std::string text_in(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string configured(const RunRecord& run, const char* option) {
  const auto found = run.configuration.find(option);
  return found == run.configuration.end() ? std::string() : found->second;
}

struct ScoreTitle {
  const char *name, *title;
};
constexpr std::array kScoreTitles{
    ScoreTitle{"r2", "R2"},       ScoreTitle{"mae", "MAE"},           ScoreTitle{"rmse", "RMSE"},
    ScoreTitle{"f1_micro", "F1"}, ScoreTitle{"f1_macro", "F1 macro"}, ScoreTitle{"exact_match", "exact"}};

std::map<std::string, double> scores_in(const Json& json, const std::string& set) {
  std::map<std::string, double> scores;
  for (const ScoreTitle& score : kScoreTitles)
    if (const double value = number_in(json, (set + score.name).c_str()); std::isfinite(value))
      scores[score.name] = value;
  return scores;
}

EpochRecord epoch_of(const Json& line) {
  const bool is_validation = line.contains("validation_loss");
  return {integer_in(line, "step", 0),
          integer_in(line, "epoch", 0),
          number_in(line, "train_loss"),
          number_in(line, "train_accuracy"),
          number_in(line, is_validation ? "validation_loss" : "test_loss"),
          number_in(line, is_validation ? "validation_accuracy" : "test_accuracy"),
          is_validation,
          number_in(line, "lr"),
          number_in(line, "seconds"),
          scores_in(line, is_validation ? "validation_" : "test_")};
}

StepRecord step_of(const Json& line) {
  return {integer_in(line, "step", 0), number_in(line, "loss"), number_in(line, "accuracy"), number_in(line, "lr")};
}

bool has_type(const std::string& line, const char* type) {
  return line.starts_with(std::string(R"({"type":")") + type + '"');
}

// Parsing takes most of the time, so lines between the epochs are only looked at; the last step is parsed at the end.
void read_metrics(const fs::path& file, RunRecord& run) {
  std::ifstream in(file, std::ios::binary);
  std::string last_step, step_before;
  for (std::string line; std::getline(in, line);) {
    if (has_type(line, "step")) {
      step_before = std::move(last_step);
      last_step = std::move(line);
    } else if (has_type(line, "epoch")) {
      const Json json = Json::parse(line, nullptr, false);
      if (json.is_object()) run.epochs.push_back(epoch_of(json));
    }
  }
  for (const std::string& line : {step_before, last_step}) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object()) run.last_step = step_of(json);
  }
}

void read_summary(const fs::path& file, RunRecord& run) {
  const Json json = parsed_file(file);
  run.test_loss = number_in(json, "test_loss");
  run.test_accuracy = number_in(json, "test_accuracy");
  run.samples_per_second = number_in(json, "samples_per_second");
  run.weights_sha256 = text_in(json, "weights_sha256");
  run.scores = scores_in(json, "test_");
  if (!json.is_object() || !json.contains("seconds") || !json["seconds"].is_object()) return;
  for (const auto& [name, value] : json["seconds"].items())
    if (value.is_number()) run.seconds[name] = value.get<double>();
}

RunState state_of(const fs::path& folder) {
  if (train::RunFolder::open(folder.string()).is_locked()) return RunState::running;
  std::error_code ignored;
  return fs::exists(folder / "summary.json", ignored) ? RunState::finished : RunState::interrupted;
}

}  // namespace

const char* state_name(RunState state) {
  switch (state) {
    case RunState::running: return "running";
    case RunState::finished: return "finished";
    case RunState::interrupted: return "interrupted";
  }
  return "";
}

double best_known_accuracy(const RunRecord& run) {
  if (!std::isnan(run.test_accuracy)) return run.test_accuracy;
  return run.epochs.empty() ? kNone : run.epochs.back().held_out_accuracy;
}

double best_known_loss(const RunRecord& run) {
  if (!std::isnan(run.test_loss)) return run.test_loss;
  return run.epochs.empty() ? kNone : run.epochs.back().held_out_loss;
}

std::vector<std::string> score_names() {
  std::vector<std::string> names;
  for (const ScoreTitle& score : kScoreTitles) names.emplace_back(score.name);
  return names;
}

std::string score_title(const std::string& name) {
  for (const ScoreTitle& score : kScoreTitles)
    if (name == score.name) return score.title;
  return name;
}

double best_known_score(const RunRecord& run, const std::string& name) {
  const auto value_in = [&](const std::map<std::string, double>& scores) {
    const auto found = scores.find(name);
    return found == scores.end() ? kNone : found->second;
  };
  if (!run.scores.empty()) return value_in(run.scores);
  return run.epochs.empty() ? kNone : value_in(run.epochs.back().scores);
}

double run_seconds(const RunRecord& run) {
  for (const char* name : {"whole_run", "total"})
    if (const auto found = run.seconds.find(name); found != run.seconds.end()) return found->second;
  double sum = 0;
  for (const EpochRecord& epoch : run.epochs)
    if (!std::isnan(epoch.seconds)) sum += epoch.seconds;
  return sum;
}

std::optional<RunRecord> read_run(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  const Json json = parsed_file(file);
  if (!json.is_object() || !json.contains("configuration") || !json["configuration"].is_object()) return {};
  RunRecord run;
  run.folder = folder;
  const fs::path whole = fs::absolute(folder).lexically_normal();
  run.name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  for (const auto& [name, value] : json["configuration"].items())
    if (value.is_string()) run.configuration[name] = value.get<std::string>();
  run.model = configured(run, "model");
  run.data = configured(run, "data");
  const Json resolved = json.value("resolved", Json::object());
  run.workers = integer_in(resolved, "workers", 1);
  run.servers = integer_in(resolved, "servers", 0);
  run.parameters = integer_in(resolved, "parameters", 0);
  run.steps_per_epoch = integer_in(resolved, "steps_per_epoch", 0);
  run.total_steps = integer_in(resolved, "total_steps", 0);
  if (const auto starts = json.find("starts"); starts != json.end() && starts->is_array() && !starts->empty())
    run.starts = starts->size();
  run.strategy = configured(run, "strategy");
  if (run.strategy == "auto") run.strategy = run.workers > 1 ? "allreduce" : "single";
  // The network's file is written once, when the run begins; older runs have none.
  std::error_code ignored;
  const fs::path first = folder / "network.json";
  struct stat status {};
  if (::stat((fs::exists(first, ignored) ? first : file).c_str(), &status) == 0) run.started = status.st_mtime;
  read_metrics(folder / "metrics.jsonl", run);
  read_summary(folder / "summary.json", run);
  run.state = state_of(folder);
  return run;
}

RunRecord expect_run(const fs::path& folder) {
  std::optional<RunRecord> run = read_run(folder);
  if (!run)
    base::user_error(
        "{} is not a run folder: it has no readable run.json; 'trireme runs FOLDER' lists those of a folder",
        folder.string());
  return std::move(*run);
}

std::vector<RunRecord> read_runs(const fs::path& folder) {
  std::error_code cause;
  if (!fs::is_directory(folder, cause))
    base::user_error("there is no folder {}; name a folder with runs, or a run folder", folder.string());
  if (auto run = read_run(folder)) return {std::move(*run)};
  std::vector<fs::path> found;
  constexpr auto kSkip = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(folder, kSkip, cause); !cause && entry != fs::end(entry);
       entry.increment(cause)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) continue;
    const bool is_run = fs::exists(entry->path() / "run.json", ignored);
    if (is_run) found.push_back(entry->path());
    if (is_run || entry.depth() >= 1) entry.disable_recursion_pending();
  }
  std::sort(found.begin(), found.end());
  std::vector<RunRecord> runs;
  for (const fs::path& path : found)
    if (auto run = read_run(path)) runs.push_back(std::move(*run));
  return runs;
}

std::vector<StepRecord> read_steps(const fs::path& folder, std::size_t most) {
  std::vector<StepRecord> steps;
  std::size_t every = 1, number = 0;
  std::ifstream in(folder / "metrics.jsonl", std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (!has_type(line, "step") || number++ % every != 0) continue;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object()) steps.push_back(step_of(json));
    if (steps.size() < 2 * most) continue;
    for (std::size_t i = 0; 2 * i < steps.size(); ++i) steps[i] = steps[2 * i];
    steps.resize((steps.size() + 1) / 2);
    every *= 2;
  }
  return steps;
}

}  // namespace trireme::watch
