#include "watch/records/run_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/index.h"
#include "base/text/text.h"

namespace trireme::watch {
namespace {

namespace fs = base::fs;
using Json = nlohmann::json;

constexpr double kUnread = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostWorkers = 4096;  // in one line of a damaged file

Json member(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? Json() : *found;
}

double number(const Json& json, const char* name, double otherwise = kUnread) {
  const Json value = member(json, name);
  return value.is_number() ? value.get<double>() : otherwise;
}

std::int64_t integer(const Json& json, const char* name, std::int64_t otherwise = 0) {
  const Json value = member(json, name);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

std::string words(const Json& json, const char* name) {
  const Json value = member(json, name);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

bool is_true(const Json& json, const char* name) {
  const Json value = member(json, name);
  return value.is_boolean() && value.get<bool>();
}

observe::StepSeconds seconds_in(const Json& json) {
  observe::StepSeconds seconds;
  for (const observe::StepTime& time : observe::kStepTimes) seconds.*time.seconds = number(json, time.name, 0);
  return seconds;
}

std::map<std::int64_t, std::int64_t> histogram_in(const Json& json) {
  std::map<std::int64_t, std::int64_t> counts;
  if (!json.is_object()) return counts;
  for (const auto& [name, count] : json.items())
    if (count.is_number_integer() && !name.empty() && name.size() < 10 &&
        name.find_first_not_of("0123456789") == std::string::npos)
      counts[std::stoll(name)] = count.get<std::int64_t>();
  return counts;
}

std::optional<ConfusionRecord> confusion_in(const Json& line) {
  ConfusionRecord confusion{integer(line, "step"), is_true(line, "is_validation"), {}, {}};
  const Json classes = member(line, "classes"), counts = member(line, "counts");
  if (!classes.is_array() || !counts.is_array() || counts.size() != classes.size()) return {};
  for (const Json& name : classes)
    confusion.classes.push_back(name.is_string() ? name.get<std::string>() : name.dump());
  for (const Json& row : counts) {
    if (!row.is_array() || row.size() != classes.size()) return {};
    std::vector<std::int64_t>& numbers = confusion.counts.emplace_back();
    for (const Json& count : row) numbers.push_back(count.is_number_integer() ? count.get<std::int64_t>() : 0);
  }
  return confusion;
}

// Adds a line "workers". Workers keep their numbers until one is lost; then those after it move up.
void add_workers(const Json& line, RunFolderDetails& details) {
  const Json workers = member(line, "workers");
  if (!workers.is_array() || workers.size() > kMostWorkers) return;
  details.workers.resize(std::max(details.workers.size(), workers.size()));
  for (std::size_t w = 0; w < workers.size(); ++w) {
    WorkerDetail& worker = details.workers[w];
    worker.host = words(workers[w], "host");
    worker.seconds += seconds_in(member(workers[w], "seconds"));
    worker.steps += integer(workers[w], "steps");
    worker.caused_seconds += number(workers[w], "caused_seconds", 0);
    const Json oars = member(workers[w], "oars");
    const bool has_oars = oars.is_array() && oars.size() == 2 && oars[0].is_number() && oars[1].is_number();
    worker.oars = has_oars ? oars[1].get<std::int64_t>() - oars[0].get<std::int64_t>() : -1;
  }
  details.stepping_seconds += number(line, "seconds", 0);
  details.lateness = words(line, "lateness");
}

std::string text_of_incident(const std::string& type, const Json& line) {
  if (type == "hand_over")
    return fmt::format("{} takes over, after {}", words(line, "strategy"),
                       base::human_seconds(number(line, "seconds", 0)));
  if (type == "lost")
    return fmt::format("{} is gone; going on with {}", words(line, "who"),
                       base::counted(integer(line, "workers_left"), "worker"));
  if (type == "resumed") return "the run was resumed";
  if (type == "diverged") return fmt::format("the {} became {}", words(line, "what"), words(line, "value"));
  return fmt::format("the run went on without its terminal ({})", words(line, "cause"));
}

// Removes a worker; those after it move up.
void lose_worker(const std::string& who, RunFolderDetails& details) {
  int lost = -1;
  if (std::sscanf(who.c_str(), "worker %d on", &lost) != 1 || lost < 0 || base::at(lost) >= details.workers.size())
    return;
  details.lost_workers.emplace_back(who, details.workers[base::at(lost)]);
  details.workers.erase(details.workers.begin() + lost);
}

void add_line(const std::string& type, const Json& line, RunFolderDetails& details) {
  if (type == "step") {
    details.seconds += seconds_in(member(line, "seconds"));
    ++details.steps;
  } else if (type == "workers") {
    add_workers(line, details);
  } else if (type == "epoch") {
    if (const auto staleness = histogram_in(member(line, "staleness")); !staleness.empty())
      details.staleness = staleness;
  } else if (type == "confusion") {
    if (auto confusion = confusion_in(line)) details.confusion = std::move(confusion);
  } else if (type == "checkpoint") {
    ++details.checkpoints;
    details.checkpoint_seconds += number(line, "seconds", 0);
  } else if (type == "hand_over" ? is_true(line, "is_switch")
                                 : type == "lost" || type == "resumed" || type == "diverged" || type == "detached") {
    if (type == "lost") lose_worker(words(line, "who"), details);
    details.incidents.push_back({integer(line, "step"), number(line, "time"), type, text_of_incident(type, line)});
  }
}

void read_lines(const fs::path& file, RunFolderDetails& details) {
  std::ifstream in(file, std::ios::binary);
  for (std::string text; std::getline(in, text);) {
    if (text.starts_with(R"({"type":"push")") || text.starts_with(R"({"type":"layers")")) continue;
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object() || !member(line, "type").is_string())
      ++details.damaged_lines;
    else
      add_line(words(line, "type"), line, details);
  }
}

// What the summary alone knows, and what runs of older versions have nowhere else.
void read_summary_details(const Json& summary, const RunRecord& run, RunFolderDetails& details) {
  if (!summary.is_object()) return;
  if (run.starts == 1) {
    details.evaluation_seconds = number(member(summary, "seconds"), "evaluation");
    details.checkpoint_seconds = number(member(summary, "seconds"), "checkpoint");
  }
  if (const auto staleness = histogram_in(member(summary, "staleness")); !staleness.empty())
    details.staleness = staleness;
  if (const Json lateness = member(summary, "lateness"); lateness.is_string())
    details.lateness = lateness.get<std::string>();
  const Json workers = member(summary, "per_worker");
  if (!workers.is_array()) return;
  const bool is_known = !details.workers.empty();
  if (!is_known) {
    details.workers.resize(workers.size());
    details.workers_since_last_start = run.starts > 1;
  }
  for (std::size_t w = 0; w < std::min(workers.size(), details.workers.size()); ++w) {
    WorkerDetail& worker = details.workers[w];
    worker.sent_bytes = number(workers[w], "sent_bytes");
    worker.received_bytes = number(workers[w], "received_bytes");
    worker.oars = integer(workers[w], "oars", -1);
    if (is_known) continue;
    worker.host = words(workers[w], "host");
    worker.seconds = seconds_in(member(workers[w], "seconds"));
    worker.caused_seconds = number(workers[w], "caused_waiting_seconds", 0);
  }
}

void read_description(const Json& json, RunFolderDetails& details) {
  const Json processes = member(json, "processes"), starts = member(json, "starts");
  if (processes.is_array())
    for (const Json& each : processes)
      details.processes.push_back({words(each, "name"), words(each, "host"), integer(each, "threads")});
  if (starts.is_array())
    for (const Json& each : starts)
      details.starts.push_back(
          {words(each, "date"), words(each, "host"), words(each, "command"), integer(each, "step")});
  const auto copy = [&](const char* section, std::map<std::string, std::string>& into) {
    const Json all = member(json, section);
    if (!all.is_object()) return;
    for (const auto& [name, value] : all.items())
      if (value.is_string() || value.is_number()) into[name] = words(all, name.c_str());
  };
  copy("host", details.machine);
  copy("libraries", details.machine);
  copy("resolved", details.resolved);
  for (const char* name : {"isa", "trireme"}) {
    const Json value = member(json, name);
    if (value.is_string()) details.machine[name] = value.get<std::string>();
    if (value.is_object()) details.machine[name] = words(value, "version");
  }
}

Json json_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Json::parse(in, nullptr, false);
}

}  // namespace

RunFolderDetails read_details(const RunRecord& run) {
  RunFolderDetails details;
  read_lines(run.folder / "metrics.jsonl", details);
  if (details.workers.empty()) details.stepping_seconds = kUnread;
  if (details.checkpoints == 0) details.checkpoint_seconds = kUnread;
  details.evaluation_seconds = kUnread;
  for (WorkerDetail& worker : details.workers) worker.sent_bytes = worker.received_bytes = kUnread;
  read_summary_details(json_of_file(run.folder / "summary.json"), run, details);
  read_description(json_of_file(run.folder / "run.json"), details);
  return details;
}

double overall_speed(const RunRecord& run, const RunFolderDetails& details) {
  if (run.starts == 1 && std::isfinite(run.samples_per_second)) return run.samples_per_second;
  const auto batch = details.resolved.find("batch");
  if (batch == details.resolved.end() || details.steps == 0 || !(details.stepping_seconds > 0))
    return run.samples_per_second;
  double samples = 0;
  try {
    samples = std::stod(batch->second) * static_cast<double>(details.steps);
  } catch (const std::exception&) {  // not a number
    return run.samples_per_second;
  }
  return samples / details.stepping_seconds;
}

}  // namespace trireme::watch
