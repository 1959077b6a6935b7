#include "crew/step_plan.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace trireme::crew {
namespace {

class Planner {
 public:
  Planner(std::int64_t samples, int oars, int members) : samples_(samples), oars_(oars) {
    plan_.members.resize(static_cast<std::size_t>(members));
    plan_.slots.assign(static_cast<std::size_t>(members), 0);
    in_use_.resize(static_cast<std::size_t>(members));
    for (int member = 0; member < members; ++member) {
      const base::Range held = base::oars_of_worker(member, members, oars);
      for (std::int64_t oar = held.begin; oar < held.end; ++oar) owner_.push_back(member);
    }
  }

  StepPlan exact() {
    plan_.total = *node(0, oars_);
    return std::move(plan_);
  }

  StepPlan fast() {
    std::optional<SlotPlace> total;
    for (int member = 0; member < static_cast<int>(plan_.members.size()); ++member) {
      std::optional<SlotPlace> own;
      for (int oar = 0; oar < oars_; ++oar) {
        if (owner_[at(oar)] != member) continue;
        const auto place = leaf(oar);
        if (!place) continue;
        own = own ? sum(*own, *place) : place;
      }
      if (own) total = total ? sum(*total, *own) : own;
    }
    plan_.total = *total;
    return std::move(plan_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::optional<SlotPlace> node(int begin, int end) {
    if (end - begin == 1) return leaf(begin);
    const int middle = begin + base::oar_split(end - begin);
    const auto left = node(begin, middle);
    const auto right = node(middle, end);
    if (!left || !right) return left ? left : right;
    return sum(*left, *right);
  }

  std::optional<SlotPlace> leaf(int oar) {
    const base::Range samples = base::oar_samples(oar, oars_, samples_);
    if (samples.empty()) return std::nullopt;
    const int member = owner_[at(oar)];
    auto& used = in_use_[at(member)];
    auto free = std::find(used.begin(), used.end(), false);
    if (free == used.end()) free = used.insert(used.end(), false);
    *free = true;
    const int slot = static_cast<int>(free - used.begin());
    plan_.slots[at(member)] = std::max(plan_.slots[at(member)], slot + 1);
    plan_.members[at(member)].push_back({oar, samples, slot, {}});
    return SlotPlace{member, slot};
  }

  // left + right, kept in left's slot. Within a member it happens with its latest oar; a slot whose sum crosses members
  // stays taken until the step ends.
  SlotPlace sum(SlotPlace left, SlotPlace right) {
    if (left.member == right.member && !crossed(left) && !crossed(right)) {
      plan_.members[at(left.member)].back().sums.push_back({left.slot, right.slot});
      in_use_[at(left.member)][at(right.slot)] = false;
    } else {
      plan_.sums.push_back({left, right});
    }
    return left;
  }

  // True when the slot already takes part in a sum across members, which happens only after all oars are rowed.
  bool crossed(SlotPlace place) const {
    return std::any_of(plan_.sums.begin(), plan_.sums.end(), [&](const MemberSum& s) {
      return (s.into.member == place.member && s.into.slot == place.slot) ||
             (s.from.member == place.member && s.from.slot == place.slot);
    });
  }

  std::int64_t samples_;
  int oars_;
  std::vector<int> owner_;                 // per oar
  std::vector<std::vector<bool>> in_use_;  // per member and slot
  StepPlan plan_;
};

}  // namespace

StepPlan plan_step(std::int64_t samples, int oars, int members, Reduce reduce) {
  base::check(samples >= 1 && oars >= 1 && members >= 1, "a step of {} samples, {} oars, {} members", samples, oars,
              members);
  Planner planner(samples, oars, members);
  return reduce == Reduce::exact ? planner.exact() : planner.fast();
}

}  // namespace trireme::crew
