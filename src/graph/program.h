// Program: a network compiled for one oar size. Kernels are chosen, layouts propagated, activations planned into one
// arena; running it allocates nothing. Immutable after construction and shared by all threads; each thread runs its own
// Instance, which ties the Program to one arena, the weights and the gradient slots.
#pragma once

#include <span>

#include "graph/plan.h"
#include "graph/weight_forms.h"
#include "observe/profile.h"
#include "tensor/buffer.h"

namespace trireme::graph {

struct PassTime {
  std::string name;
  double seconds = 0;
};

class Program {
 public:
  // `network` is fused already. `fixed`: live layouts chosen by another Program, or empty.
  Program(const Network& network, const ProgramOptions& options, const std::vector<ops::Layout>& fixed);

  const ProgramOptions& options() const { return options_; }
  const Plan& plan() const { return plan_; }
  std::size_t arena_bytes() const { return plan_.arena_bytes; }
  // The live layout of every parameter of the network.
  const std::vector<ops::Layout>& parameter_layouts() const { return layouts_; }
  const std::vector<PassTime>& pass_times() const { return pass_times_; }

 private:
  ProgramOptions options_;
  Plan plan_;
  std::vector<ops::Layout> layouts_;
  std::vector<PassTime> pass_times_;
};

class Instance {
 public:
  // `arena` has program.arena_bytes() bytes, 64-byte aligned; gradient_slots are buffers over the space (none for
  // inference). All memory outlives the instance.
  Instance(const Program& program, const tensor::ParameterSpace& space, std::byte* arena, const float* weights,
           WeightForms& forms, std::span<float* const> gradient_slots);

  // To be filled before forward(): plain row-major, Program::options().samples samples.
  float* input(int index) const { return at_value(program_->plan().inputs[static_cast<std::size_t>(index)]); }
  float* target() const { return at_value(program_->plan().target); }
  // Valid after forward() of an inference Program.
  const float* prediction() const { return at_value(program_->plan().prediction); }
  const ops::Layout& prediction_layout() const;

  // From now on every task's time is added there; null: no longer. Must have an entry per task and outlive the use.
  void set_profile(observe::TaskTimes* times) { times_ = times; }

  void forward(ops::OarRun& run) const;
  // Calls gradient_done(parameters) each time the slot's gradient (or statistic) of some parameters is complete.
  template <class GradientDone>
  void backward(ops::OarRun& run, const GradientDone& gradient_done) const {
    for (const PlanBackward& step : program_->plan().backward) {
      backward_step(step, run);
      const auto& parameters = program_->plan().tasks[static_cast<std::size_t>(step.task)].parameters;
      if (!parameters.empty()) gradient_done(std::span<const int>(parameters));
    }
  }

 private:
  struct Bound {
    const ops::Kernel* kernel;
    ops::KernelArgs args;
    std::unique_ptr<ops::KernelState> state;
  };
  void backward_step(const PlanBackward& step, ops::OarRun& run) const;
  float* at_value(int value) const {
    return reinterpret_cast<float*>(arena_ + program_->plan().values[static_cast<std::size_t>(value)].offset);
  }

  const Program* program_;
  std::byte* arena_;
  std::vector<Bound> tasks_;
  observe::TaskTimes* times_ = nullptr;
};

}  // namespace trireme::graph
