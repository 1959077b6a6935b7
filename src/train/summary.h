// The summary of a run: one JSON object for programs, a short text with the time breakdown for people.
#pragma once

#include <string>

#include "base/options.h"
#include "train/console.h"
#include "train/evaluate.h"
#include "train/experiment.h"
#include "train/progress.h"

namespace trireme::train {

// Where the seconds of this process went.
struct Seconds {
  double load = 0, forward = 0, backward = 0, network = 0, update = 0;
  double evaluation = 0, checkpoint = 0;
  double total = 0;

  double training() const { return load + forward + backward + network + update; }
  void add_step(const Seconds& step);
};

struct RunResult {
  std::string run;  // folder
  Progress progress;
  Evaluation test;
  bool stopped_early = false;
  std::string weights_sha256;
  Seconds seconds;
  std::int64_t steps_here = 0, samples_here = 0;  // by this process
  double samples_per_second() const;
};

// One line.
std::string summary_json(const base::Settings& settings, const Experiment& experiment, const RunResult& result);
void print_summary(Console& console, const RunResult& result);

}  // namespace trireme::train
