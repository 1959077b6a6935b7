// RunMetrics: the newest values and the totals of one run, read from its growing files. One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "observe/kernel_file.h"
#include "watch/formats/prometheus_families.h"
#include "watch/page/feed/file_tail.h"

namespace trireme::watch {

class RunMetrics {
 public:
  explicit RunMetrics(base::fs::path folder);

  void read(std::size_t most_bytes);
  // `name`: the label of the run.
  void describe(const std::string& name, PrometheusFamilies& to) const;

 private:
  using Numbers = std::map<std::string, double>;

  // What metrics.jsonl tells. The totals are those of the lines that are there: a resumed run takes some back.
  struct Training {
    std::int64_t step = 0, epoch = 0;
    Numbers newest;                                                       // of step and epoch lines
    std::map<std::string, Numbers> held_out;                              // by set
    std::map<std::pair<std::string, std::string>, double> phase_seconds;  // by worker and phase
    std::map<std::string, double> caused_seconds, clocks;                 // by worker
    double workers = observe::kNotTold;
    std::map<std::string, double> counts;  // of events, by type
    double checkpoint_seconds = 0;
    std::deque<std::pair<double, std::int64_t>> recent;  // time and step of the last seconds
  };
  // What resources.jsonl tells of a host or a process.
  struct Resources {
    Numbers newest, totals;
    std::map<std::int64_t, double> busy;  // by core, of a host
  };

  void read_about();
  void see(const nlohmann::json& line);
  void see_step(const nlohmann::json& line);
  void see_epoch(const nlohmann::json& line);
  void see_workers(const nlohmann::json& line);
  void see_resources(const nlohmann::json& line);
  void note_time(const nlohmann::json& line);
  void describe_training(const PrometheusFamilies::Labels& run, PrometheusFamilies& to) const;
  void describe_resources(const PrometheusFamilies::Labels& run, PrometheusFamilies& to) const;

  base::fs::path folder_;
  FileTail metrics_, resources_;
  base::fs::file_time_type about_time_{};  // of run.json
  PrometheusFamilies::Labels about_;
  double batch_ = observe::kNotTold, total_steps_ = observe::kNotTold;
  bool is_finished_ = false;
  Training training_;
  std::map<std::string, Resources> hosts_;                              // by name
  std::map<std::pair<std::string, std::string>, Resources> processes_;  // by host and rank
  std::map<std::pair<std::string, std::string>, double> started_;       // `seconds` of their last lines
};

}  // namespace trireme::watch
