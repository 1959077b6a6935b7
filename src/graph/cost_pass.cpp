// The cost pass: sets the cost of each task's backward (ops::Cost).
#include "graph/plan.h"

#include "base/index.h"

namespace trireme::graph {
namespace {

using base::at;

}  // namespace

void cost_pass(Plan& plan) {
  const auto bytes = [&](int value) { return value < 0 ? 0.0 : static_cast<double>(plan.values[at(value)].bytes()); };
  for (const PlanBackward& step : plan.backward) {
    PlanTask& task = plan.tasks[at(step.task)];
    const ops::KernelPlan& kernel = task.kernel->plan();
    if (kernel.view) continue;
    if (task.has_weights) {  // one product for the gradient of the weights, and one for diff_src[0] where it is wanted
      const double products = !task.wants_diff.empty() && task.wants_diff[0] ? 2 : 1;
      task.backward_cost = {products * task.cost.flops, products * task.cost.bytes};
      continue;
    }
    task.backward_cost = {task.cost.flops, bytes(task.diff_dst) + static_cast<double>(kernel.workspace_bytes)};
    for (std::size_t s = 0; s < task.src.size(); ++s) {
      if (kernel.backward_needs_src) task.backward_cost.bytes += bytes(task.src[s]);
      task.backward_cost.bytes += bytes(task.diff_src[s]);
    }
    if (kernel.backward_needs_dst) task.backward_cost.bytes += bytes(task.dst);
  }
}

}  // namespace trireme::graph
