// The autodiff pass: walks the forward tasks in reverse and gives each a gradient step. The first gradient of a value
// is written in place. The kernel adds each further gradient itself, or writes it to a temporary that is added right
// after; the order is fixed.
#include "graph/plan.h"

#include "base/index.h"

namespace trireme::graph {
namespace {
using base::at;
}  // namespace

void autodiff_pass(Plan& plan) {
  std::vector<int> gradient_of(plan.values.size(), -1);
  const auto new_value = [&](int like) {
    plan.values.push_back({plan.values[at(like)].layout, -1, 0});
    return static_cast<int>(plan.values.size()) - 1;
  };
  for (std::size_t t = plan.tasks.size(); t-- > 0;) {
    PlanTask& task = plan.tasks[t];
    task.diff_src.assign(task.src.size(), -1);
    const int incoming = gradient_of[at(task.dst)];
    if (!task.is_loss && incoming < 0) continue;  // no gradient arrives at this value
    task.diff_dst = incoming;
    PlanBackward step{static_cast<int>(t), {}};
    const ops::KernelPlan& kernel = task.kernel->plan();
    for (std::size_t s = 0; s < task.src.size(); ++s) {
      if (!task.wants_diff[s]) continue;
      int& gradient = gradient_of[at(task.src[s])];
      const bool first = gradient < 0, view = kernel.view || (kernel.dst_holds_src && s == 0);
      if (view && !first) {
        step.accumulate.push_back({incoming, gradient});
        continue;
      }
      if (kernel.adds_diff_src && s == 0 && !first) {
        task.diff_src[s] = gradient;
        task.add_diff_src = true;
        continue;
      }
      const int written = new_value(task.src[s]);
      if (view) plan.values[at(written)].alias_of = incoming;
      task.diff_src[s] = written;
      if (first)
        gradient = written;
      else
        step.accumulate.push_back({written, gradient});
    }
    plan.backward.push_back(std::move(step));
  }
}

}  // namespace trireme::graph
