#include "crew/member_profile.h"

#include <algorithm>

namespace trireme::crew {
namespace {

using observe::ProfilePhase;
using observe::ProfileRow;

// Finds or adds the row of a layer, kind and phase. Programs for different oar sizes share their layers' rows.
ProfileRow& row_of(std::vector<ProfileRow>& rows, const std::string& layer, const std::string& kind,
                   ProfilePhase phase) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ProfileRow& row) {
    return row.phase == phase && row.layer == layer && row.kind == kind;
  });
  if (found != rows.end()) return *found;
  rows.push_back({layer, kind, "", phase});
  return rows.back();
}

void add(ProfileRow& row, const observe::TaskTime& time, const ops::Cost& cost) {
  const auto calls = static_cast<double>(time.calls);
  row.seconds += 1e-9 * static_cast<double>(time.ns);
  row.calls += calls;
  row.flops += calls * cost.flops;
  row.bytes += calls * cost.bytes;
}

void add_tasks(std::vector<ProfileRow>& rows, const observe::TaskTimes& times, const graph::Plan& plan) {
  const auto add_task = [&](std::size_t t, const observe::TaskTime& time, ProfilePhase phase, const ops::Cost& cost) {
    if (time.ns == 0) return;
    const graph::PlanTask& task = plan.tasks[t];
    ProfileRow& row = row_of(rows, task.layer, task.kind, phase);
    row.kernel = task.kernel->implementation();
    add(row, time, cost);
  };
  for (std::size_t t = 0; t < plan.tasks.size(); ++t)
    add_task(t, times.forward[t], ProfilePhase::forward, plan.tasks[t].cost);
  for (const graph::PlanBackward& step : plan.backward) {
    const auto t = static_cast<std::size_t>(step.task);
    add_task(t, times.backward[t], ProfilePhase::backward, plan.tasks[t].backward_cost);
    if (times.accumulate[t].calls == 0) continue;
    ops::Cost cost;
    for (const auto& sum : step.accumulate) {
      const ops::Layout& layout = plan.values[static_cast<std::size_t>(sum.into)].layout;
      cost.flops += static_cast<double>(layout.elements());
      cost.bytes += 3 * static_cast<double>(layout.bytes());
    }
    add(row_of(rows, plan.tasks[t].layer, "gradient of a shared value", ProfilePhase::backward), times.accumulate[t],
        cost);
  }
}

}  // namespace

void MemberProfile::clear() {
  for (auto& [samples, times] : tasks)
    for (auto* list : {&times.forward, &times.backward, &times.accumulate})
      std::fill(list->begin(), list->end(), observe::TaskTime());
  for (observe::TaskTime* time : {&input, &oar_sums, &member_sums, &update, &statistics, &forms}) *time = {};
}

observe::Profile add_up(std::span<const MemberProfile* const> members, int threads, const StepCosts& costs,
                        double wall_seconds,
                        base::FunctionRef<const graph::Program&(std::int64_t samples)> program_of) {
  observe::Profile profile;
  profile.threads = threads;
  profile.wall_seconds = wall_seconds;
  for (const MemberProfile* member : members)
    for (const auto& [samples, times] : member->tasks) add_tasks(profile.rows, times, program_of(samples).plan());
  const auto add_row = [&](const char* name, ProfilePhase phase, const ops::Cost& cost, auto... times_of) {
    ProfileRow row{"", name, "", phase};
    for (const MemberProfile* member : members) (add(row, member->*times_of, {}), ...);
    row.flops = cost.flops;
    row.bytes = cost.bytes;
    if (row.calls > 0) profile.rows.push_back(row);
  };
  add_row("input copy", ProfilePhase::forward, costs.input, &MemberProfile::input);
  add_row("gradient sum", ProfilePhase::backward, costs.sums, &MemberProfile::oar_sums, &MemberProfile::member_sums);
  add_row("update", ProfilePhase::update, costs.update, &MemberProfile::update);
  add_row("statistics", ProfilePhase::update, costs.statistics, &MemberProfile::statistics);
  add_row("weights in another layout", ProfilePhase::update, costs.forms, &MemberProfile::forms);
  double measured = 0;
  for (const ProfileRow& row : profile.rows) measured += row.seconds;
  const double whole = profile.threads * wall_seconds;
  profile.rows.push_back({"", "waiting", "", ProfilePhase::update, std::max(0.0, whole - measured)});
  return profile;
}

}  // namespace trireme::crew
