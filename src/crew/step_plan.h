// StepPlan: who computes which oar of a batch, into which gradient slot, and how the slots are added along the oar
// tree.
//
// Each member computes a contiguous range of oars, oar by oar (one arena, a whole gradient kept per level of the tree)
// or layer by layer over all of them (an arena each, no whole gradient kept). A finished subtree inside one member's
// range is added at once, while the layer's gradient is still in cache ("right into left", freeing the right slot).
// What crosses members is left as a list of additions, done layer by layer by whoever has time. The additions made are
// those of the oar tree whatever the members and the schedule, so the sum has the same bits. A process that computes
// only some of the oars makes the sums of the largest whole subtrees among them.
#pragma once

#include <vector>

#include "base/oar_tree.h"
#include "crew/replica.h"

namespace trireme::crew {

enum class Reduce { exact, fast };
enum class OarSchedule { oar_by_oar, layer_by_layer };

// A gradient slot of a member: a whole one keeps the gradient of all layers, a passing one only of the last few,
// because what is written there is used up before the member's next oar.
struct Slot {
  bool passing = false;
  int index = 0;  // among those of its kind
  int task = 0;   // which of the member's oars fills it
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct SlotSum {
  Slot into, from;
};

struct OarTask {
  int oar = 0;
  base::Range samples;
  Slot slot;
  std::vector<SlotSum> sums;  // within the member, after this oar's gradient of a parameter is there
};

struct SlotPlace {
  int member = 0;
  Slot slot;
};

struct MemberSum {
  SlotPlace into, from;
};

struct SlotCount {
  int whole = 0, passing = 0;
};

struct StepPlan {
  std::vector<std::vector<OarTask>> members;
  std::vector<SlotCount> slots;       // each member needs
  std::vector<MemberSum> sums;        // across members, in order
  std::vector<base::Range> partials;  // the oars of each sum that is made here, without those that have no samples
  std::vector<SlotPlace> totals;      // where each of them ends
};

// REQUIRES: samples >= 1, oars >= 1, members >= 1, share.oars within [0, oars) and within share.mean_over. `fast` adds
// a member's oars in the order computed, into one sum.
StepPlan plan_step(std::int64_t samples, int oars, const Share& share, int members, Reduce reduce,
                   OarSchedule schedule);
inline StepPlan plan_step(std::int64_t samples, int oars, int members, Reduce reduce, OarSchedule schedule) {
  return plan_step(samples, oars, {{0, oars}}, members, reduce, schedule);
}

}  // namespace trireme::crew
