#include "watch/records/curves.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trireme::watch {
namespace {

constexpr std::size_t kMostSteps = 1000;  // per run and curve; a plot is about 600 pixels wide

// Training curves come from steps, averaged over so many of those that are read.
constexpr std::size_t kSmoothed = 10;

using Points = std::vector<std::pair<double, double>>;

// Seconds of the run at a step: known at the ends of epochs, evenly spaced between them.
double seconds_at(const RunRecord& run, double step) {
  double seconds = 0, before = 0;
  for (const EpochRecord& epoch : run.epochs) {
    const auto end = static_cast<double>(epoch.step);
    if (step <= end) return seconds + (end > before ? epoch.seconds * (step - before) / (end - before) : 0);
    seconds += epoch.seconds;
    before = end;
  }
  return std::nan("");  // in an epoch that has not ended
}

double x_of(const RunRecord& run, std::int64_t step, CurveAxis axis) {
  const auto done = static_cast<double>(step);
  switch (axis) {
    case CurveAxis::epoch: return run.steps_per_epoch > 0 ? done / static_cast<double>(run.steps_per_epoch) : done;
    case CurveAxis::step: return done;
    case CurveAxis::time: return seconds_at(run, done);
  }
  return done;
}

const char* x_title(CurveAxis axis) {
  switch (axis) {
    case CurveAxis::epoch: return "epochs";
    case CurveAxis::step: return "steps";
    case CurveAxis::time: return "seconds";
  }
  return "";
}

Points smoothed(const Points& points) {
  if (points.size() <= 2 * kSmoothed) return points;
  Points means;
  for (std::size_t begin = 0; begin < points.size(); begin += kSmoothed) {
    const std::size_t end = std::min(points.size(), begin + kSmoothed);
    double x = 0, y = 0;
    for (std::size_t i = begin; i < end; ++i) x += points[i].first, y += points[i].second;
    const auto count = static_cast<double>(end - begin);
    means.emplace_back(x / count, y / count);
  }
  return means;
}

struct RunCurves {
  Points training, held_out;
  bool is_validation = false;
};

// Runs name the F1 over all labels together and the mean of the labels' F1; the curve is of the former.
std::string score_name_of(const std::string& value) { return value == "f1" ? "f1_micro" : value; }

double score_of(const EpochRecord& epoch, const std::string& value) {
  const auto found = epoch.scores.find(score_name_of(value));
  return found == epoch.scores.end() ? std::nan("") : found->second;
}

RunCurves curves_of_run(const RunRecord& run, const std::vector<StepRecord>& steps, const std::string& value,
                        CurveAxis axis) {
  RunCurves curves;
  for (const StepRecord& step : steps) {
    const double y = value == "loss"       ? step.loss
                     : value == "accuracy" ? step.accuracy
                     : value == "lr"       ? step.lr
                                           : std::nan("");
    if (std::isfinite(y)) curves.training.emplace_back(x_of(run, step.step, axis), y);
  }
  if (value == "lr") return curves;
  curves.training = smoothed(curves.training);
  for (const EpochRecord& epoch : run.epochs) {
    const double y = value == "loss"       ? epoch.held_out_loss
                     : value == "accuracy" ? epoch.held_out_accuracy
                                           : score_of(epoch, value);
    if (std::isfinite(y)) curves.held_out.emplace_back(x_of(run, epoch.step, axis), y);
    curves.is_validation = epoch.is_validation;
  }
  return curves;
}

}  // namespace

std::vector<std::string> curve_axes() { return {"epoch", "step", "time"}; }
std::vector<std::string> curve_values() { return {"loss", "accuracy", "lr", "r2", "mae", "rmse", "f1"}; }

std::vector<Plot> curves_of(const std::vector<RunRecord>& runs, const CurveOptions& options) {
  std::vector<std::vector<StepRecord>> steps;
  for (const RunRecord& run : runs) steps.push_back(read_steps(run.folder, kMostSteps));
  std::vector<Plot> plots;
  for (const std::string& value : options.values) {
    const bool is_share = value == "accuracy" || value == "r2" || value == "f1";
    const std::string title = value == "lr"                            ? "learning rate"
                              : value == "loss" || value == "accuracy" ? value
                                                                       : score_title(score_name_of(value));
    const Scale up = options.is_logarithmic && !is_share ? Scale::logarithmic : Scale::linear;
    Plot plot{title, x_title(options.x), title, {}, Scale::linear, up};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      RunCurves curves = curves_of_run(runs[i], steps[i], value, options.x);
      const int colour = static_cast<int>(i);
      const std::string held_out = curves.is_validation ? ", validation" : ", test";
      if (!curves.training.empty())
        plot.lines.push_back({runs[i].name + (value == "lr" ? "" : ", training"), std::move(curves.training), colour,
                              value != "lr", false});
      if (!curves.held_out.empty())
        plot.lines.push_back({runs[i].name + held_out, std::move(curves.held_out), colour, false, true});
    }
    if (!plot.lines.empty()) plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace trireme::watch
