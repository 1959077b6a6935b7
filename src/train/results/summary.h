// The summary of a run: one JSON object for programs, and a short text with the time breakdown for users.
// Thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text/options.h"
#include "observe/resource_totals.h"
#include "strategy/common/strategy.h"
#include "train/evaluation/evaluate.h"
#include "train/experiment/experiment.h"
#include "train/messages/reports.h"
#include "train/results/training_progress.h"

namespace trireme::train {

// How this process spent its time.
struct Seconds {
  observe::StepSeconds steps;  // mean over the workers
  double evaluation = 0, checkpoint = 0;
  double stepping = 0;  // wall time of all intervals of steps
  double total = 0;
};

// Details per worker and of the servers.
struct RunDetails {
  int workers = 1, servers = 0;
  std::vector<observe::StepSeconds> seconds;   // per worker
  std::vector<double> caused_waiting_seconds;  // per worker
  std::vector<std::string> hosts;              // per worker
  std::vector<int> threads;                    // per worker
  std::vector<std::int64_t> oars;              // per worker, in the last synchronous step
  std::map<std::int64_t, std::int64_t> staleness;
  std::int64_t synchronisations = 0;  // averages of diverged replicas
  int hand_overs = 0;
  double longest_hand_over_seconds = 0;
  std::vector<std::string> lost;  // workers that were lost
  std::string lateness;           // StragglerMonitor::sentence
  std::optional<observe::ClusterUse> resources;
  std::vector<TrafficReply> traffic, server_traffic;  // per worker; per server that has its own process
};

struct RunResult {
  std::string run;  // folder
  TrainingProgress progress;
  Evaluation test;
  bool stopped_early = false;
  std::optional<std::int64_t> best_step{};  // of the best checkpoint
  BestOn best_on = BestOn::nothing;
  std::string weights_sha256;
  Seconds seconds;
  RunDetails details;
  std::int64_t steps_here = 0, samples_here = 0;  // by this process
  double samples_per_second() const;
};

// One line of JSON.
std::string summary_json(const base::Settings& settings, const Experiment& experiment, const RunResult& result);
// The lines of the text.
std::vector<std::string> summary_lines(const data::DataSpec& spec, const RunResult& result);

}  // namespace trireme::train
