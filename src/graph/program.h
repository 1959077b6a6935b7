// Program: a network compiled for one oar size: kernels chosen, layouts propagated, activations placed in one arena.
// Immutable after construction and shared by all threads. Each thread runs its own Instance, which binds the Program to
// one arena, the weights and the gradient slots. Running allocates nothing.
#pragma once

#include <functional>
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

// A range of forward tasks or backward steps that ends with a task that has parameters. The last range may have none;
// of backward, its parameters are the statistics of layers below all trained ones. Programs of one network for
// different oar sizes have the same segments, but perhaps other reorders inside them.
struct Segment {
  int begin = 0, end = 0;
  std::span<const int> parameters;
};

class Program {
 public:
  // REQUIRES: a fused network. `fixed`: the live layouts that another Program has chosen, or empty.
  Program(const Network& network, const ProgramOptions& options, const std::vector<ops::Layout>& fixed);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ProgramOptions& options() const { return options_; }
  const Plan& plan() const { return plan_; }
  std::size_t arena_bytes() const { return plan_.arena_bytes; }
  // The live layout of every parameter of the network.
  const std::vector<ops::Layout>& parameter_layouts() const { return layouts_; }
  const std::vector<PassTime>& pass_times() const { return pass_times_; }
  const std::vector<Segment>& forward_segments() const { return forward_segments_; }
  const std::vector<Segment>& backward_segments() const { return backward_segments_; }
  // The task that can compute the parameter's gradient late (Instance::late_gradient()), or -1.
  int late_task(int parameter) const { return late_task_[static_cast<std::size_t>(parameter)]; }

 private:
  void cut_into_segments(const Network& network);

  ProgramOptions options_;
  Plan plan_;
  std::vector<ops::Layout> layouts_;
  std::vector<PassTime> pass_times_;
  std::vector<Segment> forward_segments_, backward_segments_;
  std::vector<int> unreached_statistics_;  // of tasks without a backward step: forward alone writes them
  std::vector<int> late_task_;             // per parameter
};

class Instance {
 public:
  // Where a parameter's gradient (or statistic) goes in each slot.
  using GradientPlace = std::function<float*(int slot, int parameter)>;

  // `arena` has program.arena_bytes() bytes, 64-byte aligned; `slots` is 0 for inference. All memory outlives the
  // instance.
  Instance(const Program& program, const tensor::ParameterSpace& space, std::byte* arena, const float* weights,
           WeightForms& forms, int slots, const GradientPlace& gradient);

  const Program& program() const { return *program_; }
  // The caller fills input() and target() before forward(): plain row-major, Program::options().samples samples.
  float* input(int index) const { return at_value(program_->plan().inputs[static_cast<std::size_t>(index)]); }
  float* target() const { return at_value(program_->plan().target); }
  // Valid after forward() of an inference Program.
  const float* prediction() const { return at_value(program_->plan().prediction); }
  const ops::Layout& prediction_layout() const;

  // From now on adds every task's time to `times`, which has an entry per task and stays alive; null: stops.
  void set_profile(observe::TaskTimes* times) { times_ = times; }

  void forward(ops::OarRun& run) const {
    for (const Segment& segment : program_->forward_segments()) forward(segment, run);
  }
  // Runs one of the Program's forward_segments(); call them in order.
  void forward(const Segment& segment, ops::OarRun& run) const;
  // Runs one of the Program's backward_segments(), in order. Then the slot's gradients of its parameters are complete.
  void backward(const Segment& segment, ops::OarRun& run) const;
  // Computes rows of a late gradient, which backward left out because its place was null. REQUIRES:
  // Program::late_task(parameter) >= 0; called between the layer's backward and the next forward(). Several threads may
  // call it at once, each with its own `scratch` of the size that the task's kernel wants. The time is added to
  // `times`, if given, as the task's backward.
  void late_gradient(int parameter, base::Range rows, std::byte* scratch, observe::TaskTimes* times, float* to) const;

 private:
  struct BoundTask {
    const ops::Kernel* kernel;
    ops::KernelArgs args;
    std::unique_ptr<ops::KernelState> state;
  };
  // Reports what a task reads and writes to the thread sanitizer.
  void tell_forward(int task) const;
  void tell_backward(int task, int slot) const;
  bool reads_parameter(int parameter) const;  // false for running statistics in training
  std::size_t bytes_of(int value) const;
  ops::View at_value(int value) const {
    const PlanValue& planned = program_->plan().values[static_cast<std::size_t>(value)];
    return {arena_ + planned.offset, planned.layout.type};
  }

  const Program* program_;
  const tensor::ParameterSpace* space_;
  std::byte* arena_;
  std::vector<BoundTask> tasks_;
  observe::TaskTimes* times_ = nullptr;
};

}  // namespace trireme::graph
