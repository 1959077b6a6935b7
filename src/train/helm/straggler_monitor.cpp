#include "train/helm/straggler_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace trireme::train {
namespace {

constexpr double kWorthSaying = 0.05;
constexpr double kMeasurableSeconds = 0.1;  // less is what starting and clocks make of it
constexpr double kExplains = 0.5;           // the share of the waiting that a phase must explain to be blamed

}  // namespace

StragglerMonitor::StragglerMonitor(std::vector<std::int64_t> clock_ahead_ns)
    : ahead_(std::move(clock_ahead_ns)), seconds_(ahead_.size()), caused_(ahead_.size()) {}

void StragglerMonitor::see(const std::vector<strategy::WorkerStepReport>& notes) {
  std::vector<std::int64_t> arrived;
  for (std::size_t w = 0; w < notes.size(); ++w) {
    seconds_[w] += notes[w].seconds;
    arrived.push_back(notes[w].arrived_ns - ahead_[w]);
  }
  if (notes.size() < 2) return;
  const auto last = std::ranges::max_element(arrived) - arrived.begin();
  std::vector<std::int64_t> others = arrived;
  others.erase(others.begin() + last);
  std::ranges::sort(others);
  caused_[static_cast<std::size_t>(last)] +=
      1e-9 * static_cast<double>(arrived[static_cast<std::size_t>(last)] - others[others.size() / 2]);
}

void StragglerMonitor::lose(int worker) {
  ahead_.erase(ahead_.begin() + worker);
  seconds_.erase(seconds_.begin() + worker);
  caused_.erase(caused_.begin() + worker);
}

void StragglerMonitor::add_push(int worker, const observe::StepSeconds& seconds) {
  seconds_[static_cast<std::size_t>(worker)] += seconds;
}

std::string StragglerMonitor::sentence(double total_seconds) const {
  if (caused_.size() < 2 || total_seconds <= 0) return {};
  const auto worst = static_cast<std::size_t>(std::ranges::max_element(caused_) - caused_.begin());
  const double share = caused_[worst] / total_seconds;
  if (share < kWorthSaying || caused_[worst] < kMeasurableSeconds) return {};
  // Names the phase in which the worker exceeds the mean of the others the most.
  const auto excess = [&](double observe::StepSeconds::*phase) {
    double others = 0;
    for (std::size_t w = 0; w < seconds_.size(); ++w)
      if (w != worst) others += seconds_[w].*phase;
    return seconds_[worst].*phase - others / static_cast<double>(seconds_.size() - 1);
  };
  const char* slowest = "";
  double most = -std::numeric_limits<double>::infinity();
  for (const observe::StepPhase& phase : observe::kStepPhases) {
    if (!phase.is_own || excess(phase.seconds) <= most) continue;
    most = excess(phase.seconds);
    slowest = phase.activity;
  }
  if (most < kExplains * caused_[worst])
    return fmt::format("worker {} makes everybody wait {:.0f} %", worst, 100 * share);
  return fmt::format("worker {} makes everybody wait {:.0f} %: its {} is slow", worst, 100 * share, slowest);
}

}  // namespace trireme::train
