#include "watch/trace/critical_path.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "base/error.h"

namespace trireme::watch {
namespace {

constexpr std::array kPathPhases{"load", "forward", "backward", "network", "update"};
constexpr std::size_t kForward = 1, kBackward = 2, kNetwork = 3;
constexpr double kMuchSlower = 1.5;
constexpr double kTogether = 0.5;    // of a step's time, in which all workers are in it, if it is synchronous
constexpr std::int64_t kWarmUp = 3;  // steps that are left out if there are many
constexpr std::size_t kManySteps = 12;
constexpr std::ptrdiff_t kPartAroundMedian = 5;  // a fifth of the steps

// One worker's part of a step.
struct WorkerStep {
  int process = 0;
  double start_us = 0, end_us = 0;
  std::array<double, kPathPhases.size()> seconds{};
  std::int64_t oars = 0;
  const std::vector<RecordedSpan>* spans = nullptr;

  double total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }
  double own() const { return total() - seconds[kNetwork]; }
  double compute() const { return seconds[kForward] + seconds[kBackward]; }
  double without(std::size_t phase) const { return own() - (phase == kNetwork ? 0 : seconds[phase]); }
};

std::optional<WorkerStep> worker_step(int process, const std::vector<RecordedSpan>& spans) {
  WorkerStep step{.process = process, .spans = &spans};
  bool is_whole = false;
  for (const RecordedSpan& span : spans) {
    if (span.name == "step") {
      is_whole = true;
      step.start_us = span.start_us;
      step.end_us = span.end_us;
    }
    if (span.category == "oar" && span.name == "forward") step.oars += span.oars;
    if (span.category != "phase") continue;
    for (std::size_t phase = 0; phase < kPathPhases.size(); ++phase)
      if (span.name == kPathPhases[phase]) step.seconds[phase] += span.seconds();
  }
  return is_whole ? std::optional(step) : std::nullopt;
}

using StepOfWorkers = std::vector<WorkerStep>;

bool are_together(const StepOfWorkers& step) {
  double begin = 0, end = std::numeric_limits<double>::infinity(), longest = 0;
  for (const WorkerStep& one : step) {
    begin = std::max(begin, one.start_us);
    end = std::min(end, one.end_us);
    longest = std::max(longest, one.end_us - one.start_us);
  }
  return end - begin >= kTogether * longest;
}

double seconds_of_step(const StepOfWorkers& step) {
  double most = 0;
  for (const WorkerStep& one : step) most = std::max(most, one.total());
  return most;
}

template <class T, class Value>
const T& median_of(const std::vector<T>& all, const Value& value) {
  std::vector<const T*> sorted;
  for (const T& one : all) sorted.push_back(&one);
  std::ranges::sort(sorted, {}, [&](const T* one) { return value(*one); });
  return *sorted[(sorted.size() - 1) / 2];
}

struct NumberedStep {
  std::int64_t number = 0;
  StepOfWorkers workers;
};

// All steps of workers that the trace has whole.
std::vector<NumberedStep> recorded_steps(const RecordedTrace& trace) {
  std::vector<NumberedStep> all;
  for (const auto& [number, processes] : trace.steps) {
    NumberedStep step{number, {}};
    for (const auto& [process, spans] : processes)
      if (trace.is_worker(process))
        if (const auto one = worker_step(process, spans)) step.workers.push_back(*one);
    if (!step.workers.empty()) all.push_back(std::move(step));
  }
  return all;
}

std::vector<int> processes_of(const NumberedStep& step) {
  std::vector<int> processes;
  for (const WorkerStep& one : step.workers) processes.push_back(one.process);
  return processes;
}

// The steps of the same workers, of those that made the most steps together; of equals, the most workers.
std::vector<NumberedStep> steps_together(std::vector<NumberedStep> all) {
  std::map<std::vector<int>, std::size_t> counts;
  for (const NumberedStep& step : all) ++counts[processes_of(step)];
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& one) { return std::pair(one.second, one.first.size()); });
  std::erase_if(all, [&](const NumberedStep& step) { return processes_of(step) != most->first; });
  return all;
}

void leave_out_warm_up(std::vector<NumberedStep>& steps) {
  if (steps.size() >= kManySteps) steps.erase(steps.begin(), steps.begin() + kWarmUp);
}

// The median step with each worker's mean times over the steps around it. REQUIRES: all have the same workers.
struct UsualStep {
  NumberedStep step;
  std::int64_t mean_of = 0;
};
UsualStep usual_step(std::vector<NumberedStep> steps) {
  std::ranges::sort(steps, {}, [](const NumberedStep& step) { return seconds_of_step(step.workers); });
  const std::ptrdiff_t middle = (std::ssize(steps) - 1) / 2, around = std::ssize(steps) / kPartAroundMedian / 2;
  UsualStep usual{steps[static_cast<std::size_t>(middle)], 2 * around + 1};
  for (std::size_t worker = 0; worker < usual.step.workers.size(); ++worker)
    for (std::size_t phase = 0; phase < kPathPhases.size(); ++phase) {
      double sum = 0;
      for (std::ptrdiff_t i = middle - around; i <= middle + around; ++i)
        sum += steps[static_cast<std::size_t>(i)].workers[worker].seconds[phase];
      usual.step.workers[worker].seconds[phase] = sum / static_cast<double>(usual.mean_of);
    }
  return usual;
}

// What the communication did while the path waited: the longest sum, pull or handling of a push.
PathBucket longest_bucket(const RecordedTrace& trace, const StepOfWorkers& workers, const WorkerStep& last) {
  PathBucket longest;
  for (const RecordedSpan& span : *last.spans) {
    if (span.bucket < 0 || (span.name != "reduce" && span.name != "pull")) continue;
    if (span.seconds() <= longest.seconds) continue;
    longest.bucket = span.bucket;
    longest.detail = span.detail;
    longest.bytes = span.bytes;
    longest.seconds = span.seconds();
    if (span.name == "pull" && span.peer >= 0) longest.waited_for = trace.name_of(static_cast<int>(span.peer));
  }
  if (!longest.waited_for.empty()) return longest;
  // In a sum everybody waits for the one whose link is slow; that one waits for somebody, too.
  std::map<std::int64_t, double> waited;
  for (const WorkerStep& worker : workers)
    for (const RecordedSpan& span : *worker.spans)
      if (span.name == "reduce" && span.peer >= 0) waited[span.peer] += span.seconds();
  const auto most = std::ranges::max_element(waited, {}, [](const auto& one) { return one.second; });
  if (most != waited.end()) longest.waited_for = trace.name_of(static_cast<int>(most->first));
  return longest;
}

// Seconds of computation per oar.
double per_oar(const WorkerStep& worker) { return worker.compute() / static_cast<double>(worker.oars); }

void find_slow_worker(const RecordedTrace& trace, const StepOfWorkers& workers, CriticalPath& path) {
  if (workers.size() < 2 || std::ranges::any_of(workers, [](const auto& one) { return one.oars == 0; })) return;
  const auto slowest = std::ranges::max_element(workers, {}, per_oar);
  std::vector<WorkerStep> others;
  for (const WorkerStep& one : workers)
    if (one.process != slowest->process) others.push_back(one);
  const double usual = per_oar(median_of(others, per_oar));
  if (usual <= 0 || per_oar(*slowest) < kMuchSlower * usual) return;
  path.slow_worker = trace.name_of(slowest->process);
  path.slow_factor = per_oar(*slowest) / usual;
  // Oars would be shared out anew.
  double oars = 0, now = 0, speed = 0;
  for (const WorkerStep& one : workers) {
    oars += static_cast<double>(one.oars);
    now = std::max(now, one.compute());
    speed += 1 / (one.process == slowest->process ? usual : per_oar(one));
  }
  path.slow_gained = std::max(0.0, now - oars / speed);
}

}  // namespace

CriticalPath critical_path_of(const RecordedTrace& trace, std::optional<bool> is_synchronous) {
  std::vector<NumberedStep> all = recorded_steps(trace);
  if (all.empty()) base::user_error("the trace has no complete step; was the run made with --trace none?");
  CriticalPath path;
  path.clock_bound_us = trace.clock_bound_us;
  std::vector<NumberedStep> steps = steps_together(all);
  leave_out_warm_up(steps);
  const auto together = std::ranges::count_if(steps, [](const auto& step) { return are_together(step.workers); });
  path.is_synchronous = is_synchronous.value_or(2 * together >= std::ssize(steps));
  UsualStep usual;
  if (path.is_synchronous) {
    path.steps = std::ssize(steps);
    usual = usual_step(std::move(steps));
  } else {
    // Each worker's usual step; the slowest of them.
    leave_out_warm_up(all);
    path.steps = std::ssize(all);
    std::map<int, std::vector<NumberedStep>> of_worker;
    for (const NumberedStep& step : all)
      for (const WorkerStep& one : step.workers) of_worker[one.process].push_back({step.number, {one}});
    for (auto& [process, own] : of_worker) {
      UsualStep one = usual_step(std::move(own));
      if (usual.mean_of == 0 || seconds_of_step(one.step.workers) > seconds_of_step(usual.step.workers))
        usual = std::move(one);
    }
  }
  path.mean_of = usual.mean_of;
  const NumberedStep& median = usual.step;
  const StepOfWorkers& workers = median.workers;
  const WorkerStep& last = *std::ranges::max_element(workers, {}, [](const auto& one) { return one.own(); });
  path.step = median.number;
  path.seconds = last.total();
  for (std::size_t phase = 0; phase < kPathPhases.size(); ++phase) {
    double rest = 0;  // of the worker that would be last, without this time
    for (const WorkerStep& one : workers)
      rest = std::max(rest, one.process == last.process ? one.without(phase) : one.own());
    const double network = phase == kNetwork ? 0 : last.seconds[kNetwork];
    path.parts.push_back({trace.name_of(last.process), kPathPhases[phase], last.seconds[phase],
                          std::max(0.0, path.seconds - rest - network)});
  }
  path.decides =
      static_cast<std::size_t>(std::ranges::max_element(path.parts, {}, &PathPart::seconds) - path.parts.begin());
  path.bucket = longest_bucket(trace, workers, last);
  find_slow_worker(trace, workers, path);
  return path;
}

}  // namespace trireme::watch
