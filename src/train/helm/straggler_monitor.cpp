#include "train/helm/straggler_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/text/text.h"

namespace trireme::train {
namespace {

constexpr double kWorthSaying = 0.05;
constexpr double kMeasurableSeconds = 0.1;  // less is what starting and clocks make of it
constexpr double kExplains = 0.5;           // the share of the waiting that a phase must explain to be blamed
constexpr double kBoundByNetwork = 0.2;     // the share of the time that makes the network the cause
constexpr double kMostlyNetwork = 0.5;      // the same, where no link is slower than others
constexpr double kMuchWaiting = 0.2;        // without a known cause, it still outweighs a known small one
constexpr double kMainCause = 3;            // times the share of a late worker
constexpr double kMuchCompute = 1;          // seconds that tell how fast a worker is
constexpr double kMuchLonger = 1.5;         // for an oar or push
constexpr std::size_t kReports = 10;        // that a report's sentence is about

double own_seconds(const observe::StepSeconds& seconds) {
  double sum = 0;
  for (const observe::StepPhase& phase : observe::kStepPhases)
    if (phase.is_own) sum += seconds.*phase.seconds;
  return sum;
}

// The worker with the largest value, and how far it is beyond the median of the others.
std::pair<std::size_t, double> last_of(const std::vector<double>& values) {
  const auto last = std::ranges::max_element(values) - values.begin();
  std::vector<double> others = values;
  others.erase(others.begin() + last);
  std::ranges::sort(others);
  return {static_cast<std::size_t>(last), values[static_cast<std::size_t>(last)] - others[others.size() / 2]};
}

}  // namespace

StragglerMonitor::StragglerMonitor(std::vector<std::int64_t> clock_ahead_ns)
    : ahead_(std::move(clock_ahead_ns)), totals_(ahead_.size()), reported_(ahead_.size()) {}

void StragglerMonitor::see(const std::vector<strategy::WorkerStepReport>& notes,
                           const std::vector<base::Range>& shares) {
  has_news_ = true;
  std::vector<std::int64_t> arrived;
  for (std::size_t w = 0; w < notes.size(); ++w) {
    totals_[w].seconds += notes[w].seconds;
    ++totals_[w].steps;
    if (w < shares.size()) totals_[w].portions += shares[w].size();
    arrived.push_back(notes[w].arrived_ns - ahead_[w]);
  }
  if (notes.size() < 2) return;
  std::vector<double> arrivals, own;
  for (std::size_t w = 0; w < notes.size(); ++w) {
    arrivals.push_back(1e-9 * static_cast<double>(arrived[w] - arrived[0]));
    own.push_back(own_seconds(notes[w].seconds));
  }
  const auto [late, late_seconds] = last_of(arrivals);
  const auto [slow, slow_seconds] = last_of(own);
  if (late_seconds >= slow_seconds)
    totals_[late].caused += late_seconds;
  else
    totals_[slow].caused += slow_seconds;
}

void StragglerMonitor::lose(int worker) {
  ahead_.erase(ahead_.begin() + worker);
  totals_.erase(totals_.begin() + worker);
  reported_.erase(reported_.begin() + worker);
  links_.lose(worker);
  for (Reported& report : recent_) report.before.erase(report.before.begin() + worker);
}

void StragglerMonitor::add_push(int worker, const observe::StepSeconds& seconds, std::int64_t clock) {
  has_news_ = true;
  Totals& totals = totals_[static_cast<std::size_t>(worker)];
  totals.seconds += seconds;
  ++totals.steps;
  ++totals.portions;
  totals.clock = clock + 1;
}

std::vector<observe::StepSeconds> StragglerMonitor::seconds() const {
  std::vector<observe::StepSeconds> all;
  for (const Totals& totals : totals_) all.push_back(totals.seconds);
  return all;
}

std::vector<double> StragglerMonitor::caused() const {
  std::vector<double> all;
  for (const Totals& totals : totals_) all.push_back(totals.caused);
  return all;
}

StragglerMonitor::AllTotals StragglerMonitor::difference(const AllTotals& after, const AllTotals& before) {
  AllTotals change = after;
  for (std::size_t w = 0; w < change.size(); ++w) {
    change[w].seconds += before[w].seconds * -1;
    change[w].caused -= before[w].caused;
    change[w].steps -= before[w].steps;
    change[w].portions -= before[w].portions;
  }
  return change;
}

observe::WorkersReport StragglerMonitor::report(double seconds) {
  observe::WorkersReport report{.seconds = seconds};
  for (const Totals& totals : difference(totals_, reported_))
    report.workers.push_back({.worker = static_cast<int>(report.workers.size()),
                              .seconds = totals.seconds,
                              .steps = totals.steps,
                              .caused_seconds = totals.caused,
                              .clock = totals.clock});
  recent_.push_back({reported_, seconds});
  if (recent_.size() > kReports) recent_.pop_front();
  double all = 0;
  for (const Reported& one : recent_) all += one.seconds;
  report.lateness = sentence_of(difference(totals_, recent_.front().before), all);
  reported_ = totals_;
  has_news_ = false;
  return report;
}

std::string StragglerMonitor::sentence(double total_seconds) const { return sentence_of(totals_, total_seconds); }

std::string StragglerMonitor::sentence_of(const AllTotals& totals, double total_seconds) const {
  if (totals.size() < 2 || total_seconds <= 0) return {};
  const auto worst = static_cast<std::size_t>(std::ranges::max_element(totals, {}, &Totals::caused) - totals.begin());
  const double caused = totals[worst].caused, share = caused / total_seconds;
  const bool is_late = share >= kWorthSaying && caused >= kMeasurableSeconds;
  // Names the phase in which the worker exceeds the mean of the others the most.
  const auto excess = [&](double observe::StepSeconds::*phase) {
    double others = 0;
    for (std::size_t w = 0; w < totals.size(); ++w)
      if (w != worst) others += totals[w].seconds.*phase;
    return totals[worst].seconds.*phase - others / static_cast<double>(totals.size() - 1);
  };
  const char* slowest = "";
  double most = -std::numeric_limits<double>::infinity();
  for (const observe::StepPhase& phase : observe::kStepPhases) {
    if (!phase.is_own || excess(phase.seconds) <= most) continue;
    most = excess(phase.seconds);
    slowest = phase.activity;
  }
  // Waiting for a late worker is waiting for the network, too; what is beyond it is the network's own.
  const std::string network = sentence_of_network(totals, total_seconds);
  if (!network.empty() && network_share(totals, total_seconds) > kMainCause * share) return network;
  if (is_late && most >= kExplains * caused)
    return fmt::format("worker {} makes everybody wait {:.0f} %: its {} is slow", worst, 100 * share, slowest);
  if (!network.empty()) return network;
  const std::string speed = sentence_of_speed(totals);
  if (is_late && (speed.empty() || share >= kMuchWaiting))
    return fmt::format("worker {} makes everybody wait {:.0f} %", worst, 100 * share);
  return speed;
}

double StragglerMonitor::network_share(const AllTotals& totals, double total_seconds) {
  double waited = 0;
  for (const Totals& worker : totals) waited += worker.seconds.network / static_cast<double>(totals.size());
  return std::min(1.0, waited / total_seconds);
}

// A slow link makes all wait, and nobody late by his own work.
std::string StragglerMonitor::sentence_of_network(const AllTotals& totals, double total_seconds) const {
  const std::optional<LinkSpeeds::Verdict> verdict = links_.verdict();
  const double share = network_share(totals, total_seconds);
  if (!verdict || share < kBoundByNetwork || share * total_seconds < kMeasurableSeconds) return {};
  const auto speed = [](double bytes) { return base::human_bytes(bytes) + "/s"; };
  if (verdict->workers.empty() && share < kMostlyNetwork) return {};
  if (verdict->workers.empty())
    return fmt::format("everybody waits {:.0f} % for the network: connections carry at most {}", 100 * share,
                       speed(verdict->bytes_per_second));
  std::vector<std::string> names;
  for (const int worker : verdict->workers) names.push_back(std::to_string(worker));
  return fmt::format("everybody waits {:.0f} % for the network: the link of worker {} carries {}, those of others {}",
                     100 * share, base::join(names, " and "), speed(verdict->bytes_per_second), speed(verdict->others));
}

// A worker that gets fewer oars, or asks for fewer shares, because it is slow makes nobody wait.
std::string StragglerMonitor::sentence_of_speed(const AllTotals& totals) {
  std::vector<double> others;
  std::size_t slowest = 0;
  double most = 0;
  for (std::size_t w = 0; w < totals.size(); ++w) {
    if (totals[w].portions == 0 || totals[w].seconds.compute() < kMuchCompute) return {};
    others.push_back(totals[w].seconds.compute() / static_cast<double>(totals[w].portions));
    if (others.back() > most) most = others.back(), slowest = w;
  }
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(slowest));
  std::ranges::sort(others);
  const double median = others[others.size() / 2];
  if (most < kMuchLonger * median) return {};
  return fmt::format("worker {} computes {:.1f} times as slowly as the others, so it gets fewer samples", slowest,
                     most / median);
}

}  // namespace trireme::train
