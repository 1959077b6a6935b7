#include "graph/program.h"

#include <algorithm>

#include "base/cpu/add_into.h"
#include "base/cpu/race_check.h"
#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"

namespace trireme::graph {
namespace {

using base::at;

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
    layouts_.push_back(ops::Layout::plain(parameter.spec.shape));  // stays for nodes that do not lead to the loss
  for (const PlanTask& task : plan_.tasks)
    for (std::size_t p = 0; p < task.parameters.size(); ++p)
      layouts_[at(task.parameters[p])] = task.kernel->plan().weights[p];
  late_task_.assign(network.parameters().size(), -1);
  for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
    if (plan_.tasks[t].kernel->plan().late_weights) late_task_[at(plan_.tasks[t].parameters[0])] = static_cast<int>(t);
  cut_into_segments(network);
}

void Program::cut_into_segments(const Network& network) {
  const auto cut = [&](std::vector<Segment>& segments, std::size_t count, const auto& task_of) {
    int begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const PlanTask& task = plan_.tasks[at(task_of(i))];
      const int end = static_cast<int>(i) + 1;
      if (task.parameters.empty()) continue;
      segments.push_back({begin, end, task.parameters});
      begin = end;
    }
    segments.push_back({begin, static_cast<int>(count), {}});
  };
  cut(forward_segments_, plan_.tasks.size(), [](std::size_t i) { return static_cast<int>(i); });
  cut(backward_segments_, plan_.backward.size(), [&](std::size_t i) { return plan_.backward[i].task; });
  if (!options_.training) return;
  std::vector<bool> reached(plan_.tasks.size());
  for (const PlanBackward& step : plan_.backward) reached[at(step.task)] = true;
  for (std::size_t t = 0; t < plan_.tasks.size(); ++t)
    for (const int p : plan_.tasks[t].parameters)
      if (!reached[t] && network.parameters()[at(p)].spec.is_statistic()) unreached_statistics_.push_back(p);
  backward_segments_.back().parameters = unreached_statistics_;
}

Instance::Instance(const Program& program, const tensor::ParameterSpace& space, std::byte* arena, const float* weights,
                   WeightForms& forms, int slots, const GradientPlace& gradient)
    : program_(&program), space_(&space), arena_(arena) {
  const Plan& plan = program.plan();
  for (const PlanTask& task : plan.tasks) {
    const ops::KernelPlan& kernel_plan = task.kernel->plan();
    ops::KernelArgs args;
    for (const int src : task.src) args.src.push_back(at_value(src));
    args.dst = at_value(task.dst);
    args.workspace = arena_ + task.workspace;
    if (task.known_by >= 0) {
      const PlanTask& earlier = plan.tasks[at(task.known_by)];
      args.known = arena_ + earlier.workspace;
      const auto channels = [&](const PlanTask& reader) { return plan.values[at(reader.src[0])].layout.shape[1]; };
      args.known_channels = std::min(channels(earlier), channels(task));
    }
    args.scratch = arena_ + plan.scratch_offset;
    for (std::size_t p = 0; p < task.parameters.size(); ++p) {
      const tensor::ParameterRange& range = space.range(task.parameters[p]);
      base::check(range.layout == kernel_plan.weights[p], "parameter '{}' lies in another layout than its kernel wants",
                  range.name);
      args.weights.emplace_back(weights + range.offset, range.layout.type);
    }
    for (const auto& derived : kernel_plan.derived)
      args.derived.push_back(forms.get(task.parameters[at(derived.parameter)], derived.layout));
    if (program.options().training) {
      if (task.diff_dst >= 0) args.diff_dst = at_value(task.diff_dst);
      args.add_diff_src = task.add_diff_src;
      for (std::size_t s = 0; s < task.src.size(); ++s)
        args.diff_src.push_back(task.diff_src[s] >= 0 ? at_value(task.diff_src[s]) : ops::View());
      for (int slot = 0; slot < slots; ++slot) {
        args.diff_weights.emplace_back();
        for (const int p : task.parameters)
          args.diff_weights.back().emplace_back(gradient(slot, p), space.range(p).layout.type);
      }
    }
    BoundTask bound{task.kernel.get(), std::move(args), nullptr};
    tasks_.push_back(std::move(bound));
  }
  for (BoundTask& bound : tasks_) bound.state = bound.kernel->plan().view ? nullptr : bound.kernel->bind(bound.args);
}

const ops::Layout& Instance::prediction_layout() const {
  return program_->plan().values[at(program_->plan().prediction)].layout;
}

void Instance::forward(const Segment& segment, ops::OarRun& run) const {
  for (int t = segment.begin; t < segment.end; ++t) {
    const BoundTask& task = tasks_[at(t)];
    if (task.kernel->plan().view) continue;
    if constexpr (base::kChecksRaces) tell_forward(t);
    const observe::Stopwatch watch(times_ ? &times_->forward[at(t)] : nullptr);
    task.kernel->forward(task.args, task.state.get(), run);
  }
}

void Instance::backward(const Segment& segment, ops::OarRun& run) const {
  for (int b = segment.begin; b < segment.end; ++b) {
    const PlanBackward& step = program_->plan().backward[at(b)];
    const BoundTask& task = tasks_[at(step.task)];
    if (!task.kernel->plan().view) {
      if constexpr (base::kChecksRaces) tell_backward(step.task, run.slot);
      const observe::Stopwatch watch(times_ ? &times_->backward[at(step.task)] : nullptr);
      task.kernel->backward(task.args, task.state.get(), run);
    }
    if (step.accumulate.empty()) continue;
    const observe::Stopwatch watch(times_ ? &times_->accumulate[at(step.task)] : nullptr);
    for (const auto& add : step.accumulate)
      base::add_into(at_value(add.into), at_value(add.from), program_->plan().values[at(add.into)].layout.elements());
  }
}

std::size_t Instance::bytes_of(int value) const { return program_->plan().values[at(value)].bytes(); }

bool Instance::reads_parameter(int parameter) const {
  return !program_->options().training || space_->range(parameter).kind != tensor::ParameterKind::statistic;
}

void Instance::tell_forward(int t) const {
  const PlanTask& planned = program_->plan().tasks[at(t)];
  const BoundTask& task = tasks_[at(t)];
  for (std::size_t s = 0; s < planned.src.size(); ++s) base::reads(task.args.src[s].data, bytes_of(planned.src[s]));
  for (std::size_t p = 0; p < planned.parameters.size(); ++p)
    if (reads_parameter(planned.parameters[p]))
      base::reads(task.args.weights[p].data, task.kernel->plan().weights[p].bytes());
  base::writes(task.args.dst.data, bytes_of(planned.dst));
}

void Instance::tell_backward(int t, int slot) const {
  const PlanTask& planned = program_->plan().tasks[at(t)];
  const BoundTask& task = tasks_[at(t)];
  if (task.kernel->plan().backward_needs_src)
    for (std::size_t s = 0; s < planned.src.size(); ++s) base::reads(task.args.src[s].data, bytes_of(planned.src[s]));
  for (std::size_t p = 0; p < planned.parameters.size(); ++p) {
    if (reads_parameter(planned.parameters[p]))
      base::reads(task.args.weights[p].data, task.kernel->plan().weights[p].bytes());
    base::writes(task.args.diff_weights[at(slot)][p].data, task.kernel->plan().weights[p].bytes());
  }
  if (planned.diff_dst >= 0) base::writes(task.args.diff_dst.data, bytes_of(planned.diff_dst));
  for (std::size_t s = 0; s < planned.src.size(); ++s)
    if (planned.diff_src[s] >= 0) base::writes(task.args.diff_src[s].data, bytes_of(planned.diff_src[s]));
}

void Instance::late_gradient(int parameter, base::Range rows, std::byte* scratch, observe::TaskTimes* times,
                             float* to) const {
  const int t = program_->late_task(parameter);
  const BoundTask& task = tasks_[at(t)];
  if constexpr (base::kChecksRaces) {
    const PlanTask& planned = program_->plan().tasks[at(t)];
    base::reads(task.args.src[0].data, bytes_of(planned.src[0]));
    base::reads(task.args.diff_dst.data, bytes_of(planned.diff_dst));
  }
  const std::int64_t start = times ? base::now_ns() : 0;
  task.kernel->late_gradient(task.args, rows, scratch, to);
  if (times) times->backward[at(t)].ns += base::now_ns() - start;  // backward() has counted the call
}

}  // namespace trireme::graph
