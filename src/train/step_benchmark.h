// StepBenchmark: times a training step: a network on a crew with an optimizer and one fixed random batch.
// One caller at a time. The crew's threads sleep between calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "crew/crew.h"
#include "strategy/common/strategy.h"
#include "tensor/buffer.h"

namespace trireme::train {

// The times of one step, in seconds.
struct TimedStep {
  observe::StepSeconds phases;
  double total = 0;
};

class StepBenchmark {
 public:
  // The optimizer is SGD with learning rate 0.01 and momentum 0.9.
  StepBenchmark(const graph::Network& network, const crew::CrewOptions& options);
  StepBenchmark(const StepBenchmark&) = delete;
  StepBenchmark& operator=(const StepBenchmark&) = delete;

  // Runs `steps` steps and returns the one with the median total time, so that background load of the machine hardly
  // changes the result.
  TimedStep run(int steps);
  // The profile of all steps since the last call. REQUIRES: the crew's options ask for a profile.
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
