// StepBenchmark: a network on a crew with an optimizer and one random batch, to run the same training step again and
// again and see what it costs. Sleeps between calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crew/crew.h"
#include "strategy/common/strategy.h"
#include "tensor/buffer.h"

namespace trireme::train {

// Of one step.
struct TimedStep {
  observe::StepSeconds phases;
  double total = 0;
};

class StepBenchmark {
 public:
  // SGD with learning rate 0.01 and momentum 0.9.
  StepBenchmark(const graph::Network& network, const crew::CrewOptions& options);
  StepBenchmark(const StepBenchmark&) = delete;
  StepBenchmark& operator=(const StepBenchmark&) = delete;

  // The one in the middle of that many steps: a step that something else on the machine held up is not a step's cost.
  TimedStep run(int steps);
  // Of all steps since the last call, when the crew's options ask for one.
  observe::Profile take_profile();

 private:
  crew::Crew crew_;
  strategy::Updater updater_;
  std::unique_ptr<strategy::Strategy> single_;
  std::vector<tensor::Buffer> inputs_;
  std::vector<float> target_;
  std::vector<std::int64_t> indices_;
  crew::BatchView view_;
  std::int64_t step_ = 0;
};

}  // namespace trireme::train
