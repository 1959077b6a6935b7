// Curves: what runs learned over epochs, steps or time, as plots. Pure functions but for reading run folders;
// thread-safe.
#pragma once

#include <string>
#include <vector>

#include "watch/records/run_record.h"
#include "watch/show/plot.h"

namespace trireme::watch {

enum class CurveAxis { epoch, step, time };
std::vector<std::string> curve_axes();    // "epoch", ... as --x takes them
std::vector<std::string> curve_values();  // "loss", "accuracy", "lr", and scores: "r2", "mae", ...

struct CurveOptions {
  CurveAxis x = CurveAxis::epoch;
  std::vector<std::string> values{"loss", "accuracy"};
  bool is_logarithmic = false;  // losses and learning rates over a logarithmic axis
};

// One plot per value, in which each run has a colour: dashed for the training set, solid for held-out data. Plots
// without any number (the accuracy of regressions) are left out.
std::vector<Plot> curves_of(const std::vector<RunRecord>& runs, const CurveOptions& options);

}  // namespace trireme::watch
