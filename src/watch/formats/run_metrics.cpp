#include "watch/formats/run_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace trireme::watch {
namespace {

using Json = nlohmann::json;
using enum PrometheusType;

constexpr double kRateSeconds = 10;  // over which samples per second are a mean

double number_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : observe::kNotTold;
}

std::string text_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A rank or a worker as a label; empty if it is none.
std::string index_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_integer() ? std::to_string(found->get<std::int64_t>()) : std::string();
}

bool is_metric_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

double known_or(double value, double otherwise) { return std::isfinite(value) ? value : otherwise; }

// A damaged file may name any number.
std::int64_t whole_number(double value) {
  constexpr double kMost = 9e15;  // doubles of this size are exact
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::clamp(value, -kMost, kMost));
}

struct Described {
  const char* field;   // of resources.jsonl
  const char* metric;  // its name, without the prefix
  const char* help;
};

// What is counted per line, and becomes a total.
constexpr std::array kHostTotals{
    Described{"network_received_bytes", "network_received_bytes_total", "Bytes received by all interfaces."},
    Described{"network_sent_bytes", "network_sent_bytes_total", "Bytes sent by all interfaces."},
    Described{"tcp_retransmits", "tcp_retransmitted_segments_total", "TCP segments sent again."},
    Described{"disk_read_bytes", "disk_read_bytes_total", "Bytes read from all disks."},
    Described{"disk_written_bytes", "disk_written_bytes_total", "Bytes written to all disks."},
    Described{"context_switches", "context_switches_total", "Context switches of all cores."}};
constexpr std::array kHostGauges{
    Described{"cores", "cores", "Cores that are online."},
    Described{"memory_total_bytes", "memory_size_bytes", "Memory of the host."},
    Described{"memory_used_bytes", "memory_used_bytes", "Memory that is not available to programs."},
    Described{"memory_cache_bytes", "memory_cache_bytes", "Page cache and buffers."},
    Described{"memory_shared_bytes", "memory_shared_bytes", "Memory shared by processes."},
    Described{"swap_used_bytes", "swap_used_bytes", "Swap space in use."},
    Described{"disk_busy", "disk_busy_ratio", "Share of the time in which the busiest disk worked."},
    Described{"running", "running_threads", "Threads that run or wait for a core."},
    Described{"load", "load1", "Mean of running threads over a minute."},
    Described{"temperature_celsius", "temperature_celsius", "Warmest sensor of the processors."}};
constexpr std::array kProcessTotals{
    Described{"voluntary_switches", "voluntary_context_switches_total", "How often its threads waited for something."},
    Described{"involuntary_switches", "involuntary_context_switches_total",
              "How often its threads were interrupted by other work."},
    Described{"minor_faults", "minor_page_faults_total", "Page faults that needed no disk."},
    Described{"major_faults", "major_page_faults_total", "Page faults that read from a disk."},
    Described{"disk_read_bytes", "disk_read_bytes_total", "Bytes read from disks."},
    Described{"disk_written_bytes", "disk_written_bytes_total", "Bytes written to disks."}};
constexpr std::array kProcessGauges{
    Described{"resident_bytes", "resident_memory_bytes", "Memory in use."},
    Described{"shared_bytes", "shared_memory_bytes", "Memory in use that other processes or files share."},
    Described{"threads", "threads", "Threads of the process."}};
constexpr std::array kCpuModes{"user", "system", "iowait", "steal"};

template <class Rows>
void describe_rows(const char* prefix, const Rows& rows, PrometheusType type,
                   const std::map<std::string, double>& numbers, const PrometheusFamilies::Labels& labels,
                   PrometheusFamilies& to) {
  for (const Described& row : rows)
    if (const auto found = numbers.find(row.field); found != numbers.end())
      to.add(std::string(prefix) + row.metric, type, row.help, labels, found->second);
}

PrometheusFamilies::Labels with(PrometheusFamilies::Labels labels, const char* name, const std::string& value) {
  labels.emplace_back(name, value);
  return labels;
}

}  // namespace

RunMetrics::RunMetrics(base::fs::path folder)
    : folder_(std::move(folder)), metrics_(folder_ / "metrics.jsonl"), resources_(folder_ / "resources.jsonl") {}

void RunMetrics::read(std::size_t most_bytes) {
  read_about();
  // Most lines are steps, of which only the newest says something new.
  std::string step;
  metrics_.read({.start_again = [&] { training_ = {}, step.clear(); },
                 .line =
                     [&](std::string_view line) {
                       if (line.starts_with(R"({"type":"push")")) return;
                       if (line.starts_with(R"({"type":"step")")) {
                         step = line;
                         return;
                       }
                       const Json json = Json::parse(line, nullptr, false);
                       if (json.is_object()) see(json);
                     }},
                most_bytes);
  if (const Json json = Json::parse(step, nullptr, false); json.is_object()) see(json);
  resources_.read({.start_again = [&] { hosts_.clear(), processes_.clear(), started_.clear(); },
                   .line =
                       [&](std::string_view line) {
                         const Json json = Json::parse(line, nullptr, false);
                         if (json.is_object()) see_resources(json);
                       }},
                  most_bytes);
}

void RunMetrics::read_about() {
  std::error_code cause;
  is_finished_ = base::fs::exists(folder_ / "summary.json", cause);
  const auto time = base::fs::last_write_time(folder_ / "run.json", cause);
  if (cause || time == about_time_) return;
  about_time_ = time;
  std::ifstream file(folder_ / "run.json", std::ios::binary);
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object()) return;
  about_.clear();
  if (json.contains("configuration") && json["configuration"].is_object())
    for (const char* name : {"model", "data", "strategy"})
      about_.emplace_back(name, text_of(json["configuration"], name));
  about_.emplace_back("version", text_of(json, "trireme"));
  if (!json.contains("resolved") || !json["resolved"].is_object()) return;
  batch_ = number_of(json["resolved"], "batch");
  total_steps_ = number_of(json["resolved"], "total_steps");
}

void RunMetrics::see(const Json& line) {
  const std::string type = text_of(line, "type");
  note_time(line);
  if (type == "step") return see_step(line);
  if (type == "epoch") return see_epoch(line);
  if (type == "workers") return see_workers(line);
  if (type == "checkpoint") training_.checkpoint_seconds += known_or(number_of(line, "seconds"), 0);
  for (const char* counted : {"checkpoint", "hand_over", "lost", "resumed"})
    if (type == counted) ++training_.counts[type];
}

void RunMetrics::note_time(const Json& line) {
  const double step = number_of(line, "step"), time = number_of(line, "time");
  if (std::isnan(step)) return;
  training_.step = std::max(training_.step, whole_number(step));
  auto& recent = training_.recent;
  if (std::isnan(time)) return;
  if (!recent.empty() && time < recent.back().first) recent.clear();  // the clock was set back
  recent.emplace_back(time, training_.step);
  while (recent.size() > 2 && recent.front().first < time - kRateSeconds) recent.pop_front();
}

void RunMetrics::see_step(const Json& line) {
  for (const char* name : {"loss", "accuracy", "lr"}) training_.newest[name] = number_of(line, name);
  training_.epoch = whole_number(number_of(line, "epoch"));
}

void RunMetrics::see_epoch(const Json& line) {
  training_.newest["epoch_seconds"] = number_of(line, "seconds");
  training_.newest["epoch_loss"] = number_of(line, "train_loss");
  training_.newest["epoch_accuracy"] = number_of(line, "train_accuracy");
  for (const char* set : {"test", "validation"}) {
    const std::string prefix = std::string(set) + "_";
    for (const auto& [name, value] : line.items())
      if (name.starts_with(prefix) && is_metric_name(name) && value.is_number())
        training_.held_out[set][name.substr(prefix.size())] = value.get<double>();
  }
}

void RunMetrics::see_workers(const Json& line) {
  const auto workers = line.find("workers");
  if (workers == line.end() || !workers->is_array()) return;
  training_.workers = static_cast<double>(workers->size());
  for (const Json& worker : *workers) {
    if (!worker.is_object()) continue;
    const std::string number = index_of(worker, "worker");
    if (const auto seconds = worker.find("seconds"); seconds != worker.end() && seconds->is_object())
      for (const auto& [phase, value] : seconds->items())
        if (value.is_number()) training_.phase_seconds[{number, phase}] += value.get<double>();
    training_.caused_seconds[number] += known_or(number_of(worker, "caused_seconds"), 0);
    training_.clocks[number] = number_of(worker, "clock");
  }
}

void RunMetrics::see_resources(const Json& line) {
  const std::string host = text_of(line, "host"), rank = index_of(line, "rank");
  Resources& seen = rank.empty() ? hosts_[host] : processes_[{host, rank}];
  // `seconds` begins again with every start, and the first line covers the time since then.
  double& last = started_[{host, rank}];
  const double seconds = known_or(number_of(line, "seconds"), 0), period = seconds > last ? seconds - last : seconds;
  last = seconds;
  for (const auto& [name, value] : line.items())
    if (value.is_number()) seen.newest[name] = value.get<double>();
  for (const auto& rows : {std::span<const Described>(kHostTotals), std::span<const Described>(kProcessTotals)})
    for (const Described& row : rows)
      if (const double counted = number_of(line, row.field); !std::isnan(counted)) seen.totals[row.field] += counted;
  for (const char* mode : kCpuModes)
    if (const double cores = number_of(line, (std::string("cpu_") + mode).c_str()); !std::isnan(cores))
      seen.totals[mode] += cores * period;
  const auto core = line.find("core");
  if (core == line.end() || !core->is_object()) return;
  const auto list = [&](const char* name) { return core->contains(name) ? (*core)[name] : Json::array(); };
  const Json number = list("number"), user = list("user"), system = list("system");
  seen.busy.clear();
  for (std::size_t i = 0; i < std::min({number.size(), user.size(), system.size()}); ++i)
    if (number[i].is_number_integer() && user[i].is_number() && system[i].is_number())
      seen.busy[number[i].get<std::int64_t>()] = user[i].get<double>() + system[i].get<double>();
}

void RunMetrics::describe(const std::string& name, PrometheusFamilies& to) const {
  const PrometheusFamilies::Labels run{{"run", name}};
  PrometheusFamilies::Labels about = run;
  about.insert(about.end(), about_.begin(), about_.end());
  to.add("trireme_run_info", gauge, "What is trained, as labels; always 1.", about, 1);
  to.add("trireme_run_finished", gauge, "Whether the run has ended and left its summary.", run, is_finished_ ? 1 : 0);
  describe_training(run, to);
  describe_resources(run, to);
}

void RunMetrics::describe_training(const PrometheusFamilies::Labels& run, PrometheusFamilies& to) const {
  const Training& t = training_;
  const auto newest = [&](const char* name) {
    const auto found = t.newest.find(name);
    return found == t.newest.end() ? observe::kNotTold : found->second;
  };
  const auto count = [&](const char* type) {
    const auto found = t.counts.find(type);
    return found == t.counts.end() ? 0 : found->second;
  };
  to.add("trireme_step", gauge, "Steps done.", run, static_cast<double>(t.step));
  to.add("trireme_planned_steps", gauge, "Steps after which the run ends.", run, total_steps_);
  to.add("trireme_epoch", gauge, "The epoch of the newest step, from 0.", run, static_cast<double>(t.epoch));
  to.add("trireme_train_loss", gauge, "Loss of the newest step.", run, newest("loss"));
  to.add("trireme_train_accuracy_ratio", gauge, "Accuracy of the newest step, 0 to 1.", run, newest("accuracy"));
  to.add("trireme_learning_rate", gauge, "Learning rate of the newest step.", run, newest("lr"));
  to.add("trireme_epoch_train_loss", gauge, "Mean loss over the last epoch.", run, newest("epoch_loss"));
  to.add("trireme_epoch_train_accuracy_ratio", gauge, "Mean accuracy over the last epoch.", run,
         newest("epoch_accuracy"));
  to.add("trireme_epoch_seconds", gauge, "Time of the last epoch with its evaluation.", run, newest("epoch_seconds"));
  if (t.recent.size() > 1 && t.recent.back().first > t.recent.front().first)
    to.add("trireme_samples_per_second", gauge, "Training samples per second over the last ten seconds of training.",
           run,
           batch_ * static_cast<double>(t.recent.back().second - t.recent.front().second) /
               (t.recent.back().first - t.recent.front().first));
  for (const auto& [set, numbers] : t.held_out)
    for (const auto& [name, value] : numbers) {
      const bool is_share = name == "accuracy" || name.starts_with("f1_") || name == "exact_match";
      to.add("trireme_held_out_" + name + (is_share ? "_ratio" : ""), gauge,
             "Result of the last evaluation, of the set that its label names.", with(run, "set", set), value);
    }
  to.add("trireme_workers", gauge, "Workers that train.", run, t.workers);
  for (const auto& [key, seconds] : t.phase_seconds)
    to.add("trireme_phase_seconds_total", counter,
           "Time of each worker by phase of its steps; hidden_network overlaps with the others.",
           with(with(run, "worker", key.first), "phase", key.second), seconds);
  for (const auto& [worker, seconds] : t.caused_seconds)
    to.add("trireme_caused_waiting_seconds_total", counter, "Time that the other workers waited for this one.",
           with(run, "worker", worker), seconds);
  for (const auto& [worker, clock] : t.clocks)
    to.add("trireme_worker_clock", gauge, "Pushes of the worker since the last synchronisation point.",
           with(run, "worker", worker), clock);
  to.add("trireme_checkpoints_total", counter, "Checkpoints written.", run, count("checkpoint"));
  to.add("trireme_checkpoint_seconds_total", counter, "Time of writing checkpoints.", run, t.checkpoint_seconds);
  to.add("trireme_hand_overs_total", counter, "How often a strategy took over the state.", run, count("hand_over"));
  to.add("trireme_lost_workers_total", counter, "Workers that the run has lost and gone on without.", run,
         count("lost"));
  to.add("trireme_resumes_total", counter, "How often the run was resumed.", run, count("resumed"));
}

void RunMetrics::describe_resources(const PrometheusFamilies::Labels& run, PrometheusFamilies& to) const {
  const auto cpu = [&](const char* name, const char* help, const Resources& seen,
                       const PrometheusFamilies::Labels& labels) {
    for (const char* mode : kCpuModes)
      if (const auto found = seen.totals.find(mode); found != seen.totals.end())
        to.add(name, counter, help, with(labels, "mode", mode), found->second);
  };
  for (const auto& [host, seen] : hosts_) {
    const auto labels = with(run, "host", host);
    cpu("trireme_host_cpu_seconds_total", "Time of all cores together while the run trained.", seen, labels);
    describe_rows("trireme_host_", kHostTotals, counter, seen.totals, labels, to);
    describe_rows("trireme_host_", kHostGauges, gauge, seen.newest, labels, to);
    for (const auto& [core, share] : seen.busy)
      to.add("trireme_host_core_busy_ratio", gauge, "Share of the time in which the core worked.",
             with(labels, "core", std::to_string(core)), share);
  }
  for (const auto& [key, seen] : processes_) {
    const auto labels = with(with(run, "host", key.first), "rank", key.second);
    cpu("trireme_process_cpu_seconds_total", "Processor time of the process.", seen, labels);
    describe_rows("trireme_process_", kProcessTotals, counter, seen.totals, labels, to);
    describe_rows("trireme_process_", kProcessGauges, gauge, seen.newest, labels, to);
  }
}

}  // namespace trireme::watch
