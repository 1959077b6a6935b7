#include "watch/formats/metrics_csv.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/system/files.h"
#include "observe/step_phases.h"

namespace trireme::watch {
namespace {

using Json = nlohmann::json;

// Results of a set of data; an epoch's line has them with the set's name before them.
constexpr std::array kScores{"loss", "accuracy", "mae", "rmse", "r2", "f1_micro", "f1_macro", "exact_match"};

// Numbers as they stand in the file, without a digit more or less.
std::string number_cell(const Json& line, const std::string& name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_number() ? found->dump() : std::string();
}

std::string text_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + '"';
}

class CsvRows {
 public:
  CsvRows(const RunRecord& run, std::ostream& to) : run_(text_cell(run.name)), to_(to) {}

  void step(const Json& line) {
    begin(line, "step", "train");
    for (const char* score : kScores) cell(number_cell(line, score));
    cell(number_cell(line, "lr"));
    const auto seconds = line.find("seconds");
    const Json none = Json::object();
    const Json& times = seconds != line.end() && seconds->is_object() ? *seconds : none;
    cell("");
    for (const observe::StepTime& time : observe::kStepTimes) cell(number_cell(times, time.name));
    to_ << '\n';
  }

  void epoch(const Json& line) {
    for (const char* set : {"train", "validation", "test"}) {
      if (!line.contains(std::string(set) + "_loss")) continue;
      begin(line, "epoch", set);
      for (const char* score : kScores) cell(number_cell(line, std::string(set) + "_" + score));
      cell(number_cell(line, "lr"));
      cell(number_cell(line, "seconds"));
      for (std::size_t i = 0; i < observe::kStepTimes.size(); ++i) cell("");
      to_ << '\n';
    }
  }

 private:
  void begin(const Json& line, const char* type, const char* set) {
    to_ << run_ << ',' << type << ',' << set;
    for (const char* name : {"step", "epoch", "time"}) cell(number_cell(line, name));
  }
  void cell(const std::string& text) { to_ << ',' << text; }

  std::string run_;
  std::ostream& to_;
};

}  // namespace

std::string metrics_csv_head() {
  std::string head = "run,type,set,step,epoch,time";
  for (const char* score : kScores) head += std::string(",") + score;
  head += ",lr,epoch_seconds";
  for (const observe::StepTime& time : observe::kStepTimes) head += std::string(",") + time.name + "_seconds";
  return head;
}

void write_metrics_csv(const RunRecord& run, std::ostream& to) {
  CsvRows rows(run, to);
  std::ifstream file(run.folder / "metrics.jsonl");
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object() || !line.contains("type")) continue;
    if (line["type"] == "step") rows.step(line);
    if (line["type"] == "epoch") rows.epoch(line);
  }
}

void write_metrics_csv(const std::vector<RunRecord>& runs, const std::string& file) {
  base::check_new_file("--to", file);
  std::ofstream out(file, std::ios::binary);
  out << metrics_csv_head() << '\n';
  for (const RunRecord& run : runs) write_metrics_csv(run, out);
  out.flush();
  if (out) return;
  const int cause = errno;
  std::error_code ignored;
  base::fs::remove(file, ignored);
  base::run_error("cannot write {}: {}", file, std::strerror(cause));
}

}  // namespace trireme::watch
