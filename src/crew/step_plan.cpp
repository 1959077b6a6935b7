#include "crew/step_plan.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/index.h"

namespace trireme::crew {
namespace {

using base::at;

// Plans sums first, with one slot per oar, identified by the oar; when all sums are known, slots whose lifetimes do not
// overlap share memory.
class Planner {
 public:
  Planner(std::int64_t samples, int oars, const Share& share, int members)
      : samples_(samples),
        oars_(oars),
        share_(share),
        owner_(at(oars), -1),
        lives_(at(oars)),
        crossed_(at(oars), false) {
    plan_.members.resize(at(members));
    for (int member = 0; member < members; ++member) {
      const base::Range held = base::oars_of_worker(member, members, static_cast<int>(share.oars.size()));
      for (std::int64_t oar = held.begin; oar < held.end; ++oar) owner_[at(share.oars.begin + oar)] = member;
    }
  }

  void add_exactly() {
    const base::Range whole = share_.whole(oars_);
    const base::Range held{share_.oars.begin - whole.begin, share_.oars.end - whole.begin};
    if (held.empty()) return;
    for (const base::Range& part : base::oar_partials(static_cast<int>(whole.size()), held)) {
      const base::Range oars{part.begin + whole.begin, part.end + whole.begin};
      keep(oars, node(static_cast<int>(oars.begin), static_cast<int>(oars.end)));
    }
  }

  void add_fast() {
    std::optional<int> total;
    for (int member = 0; member < static_cast<int>(plan_.members.size()); ++member) {
      std::optional<int> own;
      for (int oar = 0; oar < oars_; ++oar) {
        if (owner_[at(oar)] != member || !leaf(oar)) continue;
        own = own ? sum(*own, oar) : oar;
      }
      if (own) total = total ? sum(*total, *own) : own;
    }
    keep(share_.oars, total);
  }

  StepPlan finished(OarSchedule schedule) {
    for (std::size_t member = 0; member < plan_.members.size(); ++member) share_slots(member, schedule);
    for (std::size_t member = 0; member < plan_.members.size(); ++member)
      for (OarTask& task : plan_.members[member]) {
        task.slot = slot_of(task.oar);
        for (const auto& [into, from] : sums_of_task_[at(task.oar)])
          task.sums.push_back({slot_of(into), slot_of(from)});
      }
    for (const auto& [into, from] : crossing_sums_) plan_.sums.push_back({place_of(into), place_of(from)});
    for (const int total : totals_) plan_.totals.push_back(place_of(total));
    return std::move(plan_);
  }

 private:
  struct Life {
    int first = 0, last = 0;  // tasks of its member; last is huge when the slot's sum is needed until the step ends
    Slot slot;
  };
  using Sum = std::pair<int, int>;  // into, from: the slots, identified by their oars

  const Slot& slot_of(int oar) const { return lives_[at(oar)].slot; }
  SlotPlace place_of(int oar) const { return {owner_[at(oar)], slot_of(oar)}; }

  // Records a partial's total, which stays until the step ends. A part without samples has no total.
  void keep(base::Range part, std::optional<int> total) {
    if (!total) return;
    plan_.partials.push_back(part);
    totals_.push_back(*total);
  }

  std::optional<int> node(int begin, int end) {
    if (end - begin == 1) return leaf(begin);
    const int middle = begin + base::oar_split(end - begin);
    const auto left = node(begin, middle);
    const auto right = node(middle, end);
    if (!left || !right) return left ? left : right;
    return sum(*left, *right);
  }

  std::optional<int> leaf(int oar) {
    const base::Range samples = base::oar_samples(oar, oars_, samples_);
    if (samples.empty()) return std::nullopt;
    auto& tasks = plan_.members[at(owner_[at(oar)])];
    lives_[at(oar)].first = static_cast<int>(tasks.size());
    lives_[at(oar)].last = 1 << 30;
    tasks.push_back({oar, samples, {}, {}});
    return oar;
  }

  // left + right, stored in left's slot. A sum within a member is made right after the member's latest oar; a slot in a
  // sum across members stays taken until the step ends.
  int sum(int left, int right) {
    if (owner_[at(left)] == owner_[at(right)] && !crossed_[at(left)] && !crossed_[at(right)]) {
      const auto& tasks = plan_.members[at(owner_[at(left)])];
      sums_of_task_[at(tasks.back().oar)].emplace_back(left, right);
      lives_[at(right)].last = static_cast<int>(tasks.size()) - 1;
    } else {
      crossing_sums_.emplace_back(left, right);
      crossed_[at(left)] = crossed_[at(right)] = true;
    }
    return left;
  }

  void share_slots(std::size_t member, OarSchedule schedule) {
    const auto& tasks = plan_.members[member];
    std::vector<int> whole, passing;  // the task after which each slot is free
    for (const OarTask& task : tasks) {
      Life& life = lives_[at(task.oar)];
      const bool used_at_once = life.last == life.first || life.first + 1 == static_cast<int>(tasks.size());
      life.slot.task = life.first;
      life.slot.passing = schedule == OarSchedule::layer_by_layer || used_at_once;
      auto& taken_until = life.slot.passing ? passing : whole;
      auto free = std::find_if(taken_until.begin(), taken_until.end(), [&](int until) { return until < life.first; });
      if (free == taken_until.end()) free = taken_until.insert(taken_until.end(), 0);
      *free = life.last;
      life.slot.index = static_cast<int>(free - taken_until.begin());
    }
    plan_.slots.push_back({static_cast<int>(whole.size()), static_cast<int>(passing.size())});
  }

  std::int64_t samples_;
  int oars_;
  Share share_;
  std::vector<int> owner_;  // per oar; -1: computed elsewhere
  std::vector<Life> lives_;
  std::vector<bool> crossed_;  // per oar: in a sum across members, which is made when both have finished the layer
  std::vector<std::vector<Sum>> sums_of_task_ = std::vector<std::vector<Sum>>(lives_.size());
  std::vector<Sum> crossing_sums_;
  std::vector<int> totals_;
  StepPlan plan_;
};

}  // namespace

StepPlan plan_step(std::int64_t samples, int oars, const Share& share, int members, Reduce reduce,
                   OarSchedule schedule) {
  base::check(samples >= 1 && oars >= 1 && members >= 1, "a step of {} samples, {} oars, {} members", samples, oars,
              members);
  base::check(share.oars.begin >= 0 && share.oars.end <= oars, "oars {} to {} of {}", share.oars.begin, share.oars.end,
              oars);
  const base::Range whole = share.whole(oars);
  base::check(share.oars.empty() || (share.oars.begin >= whole.begin && share.oars.end <= whole.end),
              "oars {} to {} of a mean over {} to {}", share.oars.begin, share.oars.end, whole.begin, whole.end);
  Planner planner(samples, oars, share, members);
  if (reduce == Reduce::exact)
    planner.add_exactly();
  else
    planner.add_fast();
  return planner.finished(schedule);
}

}  // namespace trireme::crew
