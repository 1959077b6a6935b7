#include "graph/program.h"

#include "base/clock.h"
#include "base/error.h"
#include "tensor/add_into.h"

namespace trireme::graph {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Program::Program(const Network& network, const ProgramOptions& options, const std::vector<ops::Layout>& fixed)
    : options_(options) {
  const auto timed = [&](const char* name, const auto& pass) {
    const std::int64_t start = base::now_ns();
    pass();
    pass_times_.push_back({name, base::seconds_since(start)});
  };
  timed("layout", [&] { layout_pass(plan_, network, options_, fixed); });
  if (options_.training) timed("autodiff", [&] { autodiff_pass(plan_); });
  if (options_.training) timed("cost", [&] { cost_pass(plan_); });
  timed("memory", [&] { memory_pass(plan_); });

  for (const ParameterInfo& parameter : network.parameters())
    layouts_.push_back(ops::Layout::plain(parameter.spec.shape));  // of nodes that lead nowhere
  for (const PlanTask& task : plan_.tasks)
    for (std::size_t p = 0; p < task.parameters.size(); ++p)
      layouts_[at(task.parameters[p])] = task.kernel->plan().weights[p];
}

Instance::Instance(const Program& program, const tensor::ParameterSpace& space, std::byte* arena, const float* weights,
                   WeightForms& forms, std::span<float* const> gradient_slots)
    : program_(&program), arena_(arena) {
  const Plan& plan = program.plan();
  for (const PlanTask& task : plan.tasks) {
    const ops::KernelPlan& kernel_plan = task.kernel->plan();
    ops::KernelArgs args;
    for (const int src : task.src) args.src.push_back(at_value(src));
    args.dst = at_value(task.dst);
    args.workspace = arena_ + task.workspace;
    args.scratch = arena_ + plan.scratch_offset;
    for (std::size_t p = 0; p < task.parameters.size(); ++p) {
      const tensor::ParameterRange& range = space.range(task.parameters[p]);
      base::check(range.layout == kernel_plan.weights[p], "parameter '{}' lies in another layout than its kernel wants",
                  range.name);
      args.weights.push_back(weights + range.offset);
    }
    for (const auto& derived : kernel_plan.derived)
      args.derived.push_back(forms.get(task.parameters[at(derived.parameter)], derived.layout));
    if (program.options().training) {
      if (task.diff_dst >= 0) args.diff_dst = at_value(task.diff_dst);
      for (std::size_t s = 0; s < task.src.size(); ++s)
        args.diff_src.push_back(task.diff_src[s] >= 0 ? at_value(task.diff_src[s]) : nullptr);
      for (float* slot : gradient_slots) {
        args.diff_weights.emplace_back();
        for (const int p : task.parameters) args.diff_weights.back().push_back(slot + space.range(p).offset);
      }
    }
    Bound bound{task.kernel.get(), std::move(args), nullptr};
    tasks_.push_back(std::move(bound));
  }
  for (Bound& bound : tasks_) bound.state = bound.kernel->plan().view ? nullptr : bound.kernel->bind(bound.args);
}

const ops::Layout& Instance::prediction_layout() const {
  return program_->plan().values[at(program_->plan().prediction)].layout;
}

void Instance::forward(ops::OarRun& run) const {
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Bound& task = tasks_[t];
    if (task.kernel->plan().view) continue;
    const observe::Stopwatch watch(times_ ? &times_->forward[t] : nullptr);
    task.kernel->forward(task.args, task.state.get(), run);
  }
}

void Instance::backward_step(const PlanBackward& step, ops::OarRun& run) const {
  const Bound& task = tasks_[at(step.task)];
  if (!task.kernel->plan().view) {
    const observe::Stopwatch watch(times_ ? &times_->backward[at(step.task)] : nullptr);
    task.kernel->backward(task.args, task.state.get(), run);
  }
  if (step.accumulate.empty()) return;
  const observe::Stopwatch watch(times_ ? &times_->accumulate[at(step.task)] : nullptr);
  for (const auto& add : step.accumulate)
    tensor::add_into(at_value(add.into), at_value(add.from), program_->plan().values[at(add.into)].layout.elements());
}

}  // namespace trireme::graph
