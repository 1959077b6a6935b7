// Reports: the rows of numbers that workers send to the helm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strategy/strategy.h"

namespace trireme::train {

enum class ReportKind { step, push, ask, end_of_stretch, failure };

// A synchronous step, told by worker 0; or one worker's push.
struct StepNews {
  ReportKind kind = ReportKind::step;
  int worker = 0;         // of a question or a push: the rower (strategy::Plan)
  std::int64_t step = 0;  // counted from 1; of a push, that of its batch
  double loss = 0, correct = 0, samples = 0, penalty = 0, lr = 0;
  std::int64_t synchronisations = 0;    // of replicas, in the stretch that ended
  std::int64_t clock = 0, slowest = 0;  // of a push, when it began: pushes of this worker, of the slowest
  std::vector<strategy::Note> notes{};  // of all workers, or of those that pushed
  std::vector<base::Range> shares{};    // of a step, per worker
};

ReportKind kind_of(std::span<const double> numbers);
std::vector<double> to_numbers(const StepNews& news);
StepNews step_news(std::span<const double> numbers);

}  // namespace trireme::train
