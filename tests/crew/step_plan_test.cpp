// Step plans, carried out on symbols: slots hold expressions, and the one that remains must be the oar tree's, written
// here from its definition.
#include "crew/step_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "support/core_errors.h"

namespace trireme::crew {
namespace {

std::string tree(int begin, int end, int oars, std::int64_t samples) {
  if (end - begin == 1)
    return (begin + 1) * samples / oars > begin * samples / oars ? std::to_string(begin) : std::string();
  int half = 1;
  while (2 * half < end - begin) half *= 2;
  const std::string left = tree(begin, begin + half, oars, samples), right = tree(begin + half, end, oars, samples);
  if (left.empty() || right.empty()) return left + right;
  return "(" + left + "+" + right + ")";
}

// Carries a plan out; "" is a free slot.
class Symbols {
 public:
  Symbols(const StepPlan& plan, OarSchedule schedule) : plan_(plan), schedule_(schedule) {
    for (const SlotCount& slots : plan.slots)
      held_.push_back({std::vector<std::string>(static_cast<std::size_t>(slots.whole)),
                       std::vector<std::string>(static_cast<std::size_t>(slots.passing))});
  }

  std::string total() { return totals().at(0); }

  std::vector<std::string> totals() {
    for (std::size_t member = 0; member < plan_.members.size(); ++member)
      for (const OarTask& task : plan_.members[member]) {
        // Oar by oar, what a passing slot held is overwritten by the next oar's layers.
        for (const std::string& passing : held_[member].passing) {
          EXPECT_TRUE(passing.empty() || schedule_ == OarSchedule::layer_by_layer) << "before oar " << task.oar;
        }
        EXPECT_FALSE(task.samples.empty()) << "an empty oar is rowed";
        std::string& slot = at({static_cast<int>(member), task.slot});
        EXPECT_TRUE(slot.empty()) << "oar " << task.oar << " overwrites " << slot;
        slot = std::to_string(task.oar);
        computed_.push_back(task.oar);
        for (const SlotSum& sum : task.sums)
          add({static_cast<int>(member), sum.into}, {static_cast<int>(member), sum.from});
      }
    for (const MemberSum& sum : plan_.sums) add(sum.into, sum.from);
    std::vector<std::string> results;
    for (const SlotPlace& total : plan_.totals) results.push_back(std::exchange(at(total), ""));
    for (const auto& member : held_)
      for (const auto* slots : {&member.whole, &member.passing})
        for (const std::string& slot : *slots) EXPECT_TRUE(slot.empty()) << slot << " was never added";
    return results;
  }

  std::vector<int> computed() const {
    std::vector<int> sorted = computed_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  struct Held {
    std::vector<std::string> whole, passing;
  };
  std::string& at(const SlotPlace& place) {
    Held& member = held_.at(static_cast<std::size_t>(place.member));
    return (place.slot.passing ? member.passing : member.whole).at(static_cast<std::size_t>(place.slot.index));
  }
  void add(SlotPlace into, SlotPlace from) {
    std::string &left = at(into), &right = at(from);
    EXPECT_FALSE(left.empty() || right.empty()) << "a sum of nothing";
    EXPECT_TRUE(&left != &right);
    left = "(" + left + "+" + right + ")";
    right.clear();
  }

  const StepPlan& plan_;
  OarSchedule schedule_;
  std::vector<Held> held_;
  std::vector<int> computed_;
};

constexpr OarSchedule kSchedules[] = {OarSchedule::oar_by_oar, OarSchedule::layer_by_layer};

std::vector<int> filled_oars(int oars, std::int64_t samples) {
  std::vector<int> all;
  for (int oar = 0; oar < oars; ++oar)
    if (!base::oar_samples(oar, oars, samples).empty()) all.push_back(oar);
  return all;
}

template <class F>
void for_each_case(const F& f) {
  for (const std::int64_t samples : {1, 2, 3, 5, 8, 13, 64})
    for (const int oars : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33})
      for (const int members : {1, 2, 3, 5, 8, 40}) {
        SCOPED_TRACE(std::to_string(samples) + " samples, " + std::to_string(oars) + " oars, " +
                     std::to_string(members) + " members");
        f(samples, oars, members);
      }
}

TEST(StepPlan, ExactAddsAlongTheOarTree) {
  for_each_case([](std::int64_t samples, int oars, int members) {
    for (const OarSchedule schedule : kSchedules) {
      const StepPlan plan = plan_step(samples, oars, members, Reduce::exact, schedule);
      ASSERT_EQ(plan.members.size(), static_cast<std::size_t>(members));
      Symbols symbols(plan, schedule);
      EXPECT_EQ(symbols.total(), tree(0, oars, oars, samples));
      EXPECT_EQ(symbols.computed(), filled_oars(oars, samples));
    }
  });
}

TEST(StepPlan, AShareMakesThePartialsOfItsOars) {
  for (const std::int64_t samples : {3, 13, 64})
    for (const int oars : {1, 4, 7, 8, 16})
      for (int begin = 0; begin <= oars; ++begin)
        for (int end = begin; end <= oars; ++end)
          for (const int members : {1, 2, 3})
            for (const OarSchedule schedule : kSchedules) {
              const base::Range held{begin, end};
              const StepPlan plan = plan_step(samples, oars, {held}, members, Reduce::exact, schedule);
              std::vector<std::string> expected;
              for (const base::Range& part : base::oar_partials(oars, held))
                expected.push_back(tree(static_cast<int>(part.begin), static_cast<int>(part.end), oars, samples));
              std::erase(expected, "");
              EXPECT_EQ(Symbols(plan, schedule).totals(), expected) << begin << " to " << end << " of " << oars;
              EXPECT_EQ(plan.partials.size(), expected.size());
            }
}

TEST(StepPlan, AShareAloneIsOneTreeOfItsOwn) {
  for (const std::int64_t samples : {3, 64})
    for (const int oars : {4, 7, 16})
      for (int begin = 0; begin < oars; ++begin)
        for (int end = begin + 1; end <= oars; ++end) {
          const StepPlan plan =
              plan_step(samples, oars, {{begin, end}, true}, 2, Reduce::exact, OarSchedule::layer_by_layer);
          const std::string expected = tree(begin, end, oars, samples);
          ASSERT_EQ(plan.totals.size(), expected.empty() ? 0u : 1u);
          if (expected.empty()) continue;
          EXPECT_EQ(Symbols(plan, OarSchedule::layer_by_layer).total(), expected);
        }
}

TEST(StepPlan, FastCoversEveryOarOnce) {
  for_each_case([](std::int64_t samples, int oars, int members) {
    for (const OarSchedule schedule : kSchedules) {
      const StepPlan plan = plan_step(samples, oars, members, Reduce::fast, schedule);
      Symbols symbols(plan, schedule);
      const std::string total = symbols.total();
      EXPECT_EQ(symbols.computed(), filled_oars(oars, samples));
      const auto pluses = std::count(total.begin(), total.end(), '+');
      EXPECT_EQ(static_cast<std::size_t>(pluses) + 1, filled_oars(oars, samples).size());
      for (const SlotCount& slots : plan.slots) EXPECT_LE(slots.whole + slots.passing, 2);
    }
  });
}

TEST(StepPlan, MembersRowContiguousOarsOfAnEvenShare) {
  for_each_case([](std::int64_t samples, int oars, int members) {
    const StepPlan plan = plan_step(samples, oars, members, Reduce::exact, OarSchedule::oar_by_oar);
    int before = -1;
    for (const auto& tasks : plan.members) {
      EXPECT_LE(static_cast<int>(tasks.size()), (oars + members - 1) / members);
      for (const OarTask& task : tasks) {
        EXPECT_GT(task.oar, before);
        before = task.oar;
        EXPECT_EQ(task.samples, base::oar_samples(task.oar, oars, samples));
      }
    }
  });
}

TEST(StepPlan, SlotsAreFew) {
  for (int log = 0; log <= 6; ++log) {
    const int oars = 1 << log;
    // One member keeps one sum per level of the tree, and of the oar it computes only the last layers.
    const SlotCount slots = plan_step(1024, oars, 1, Reduce::exact, OarSchedule::oar_by_oar).slots[0];
    EXPECT_EQ(slots.whole, log) << oars;
    EXPECT_EQ(slots.passing, 1) << oars;
    const SlotCount layered = plan_step(1024, oars, 1, Reduce::exact, OarSchedule::layer_by_layer).slots[0];
    EXPECT_EQ(layered.whole, 0) << oars;
    EXPECT_EQ(layered.passing, log + 1) << oars;
  }
}

TEST(StepPlan, AnOarPerMemberKeepsNoWholeGradient) {
  for (const int members : {1, 2, 3, 16})
    for (const SlotCount& slots : plan_step(64, members, members, Reduce::exact, OarSchedule::oar_by_oar).slots) {
      EXPECT_EQ(slots.whole, 0);
      EXPECT_EQ(slots.passing, 1);
    }
}

// A crew makes its slots for the full batch; the last, shorter one must fit.
TEST(StepPlan, AShorterBatchNeedsNoMoreSlots) {
  for (const OarSchedule schedule : kSchedules)
    for (const Reduce reduce : {Reduce::exact, Reduce::fast})
      for (int oars = 1; oars <= 20; ++oars)
        for (const int members : {1, 2, 3, 4, 5, 7}) {
          const StepPlan full = plan_step(40, oars, members, reduce, schedule);
          for (std::int64_t samples = 1; samples < 40; ++samples) {
            const StepPlan plan = plan_step(samples, oars, members, reduce, schedule);
            for (std::size_t m = 0; m < plan.slots.size(); ++m) {
              ASSERT_LE(plan.slots[m].whole, full.slots[m].whole) << oars << " oars, " << members << " members";
              ASSERT_LE(plan.slots[m].passing, full.slots[m].passing) << oars << " oars, " << members << " members";
            }
          }
        }
}

TEST(StepPlan, ImpossibleStepsAreBugs) {
  const auto plan = [](std::int64_t samples, int oars, int members) {
    support::sentence(base::ErrorKind::internal,
                      [&] { plan_step(samples, oars, members, Reduce::exact, OarSchedule::oar_by_oar); });
  };
  plan(0, 1, 1);
  plan(1, 0, 1);
  plan(1, 1, 0);
}

}  // namespace
}  // namespace trireme::crew
