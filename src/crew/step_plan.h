// StepPlan: which member computes which oar of a batch, into which gradient slot, and how the slots are added along the
// oar tree. plan_step() is thread-safe.
//
// Each member computes a contiguous range of oars, either oar by oar (one arena, one whole gradient per level of the
// tree) or layer by layer over all its oars (one arena per oar, no whole gradient). A finished subtree inside one
// member's range is added at once, while the layer's gradient is still in cache (right into left, which frees the right
// slot). Sums across members become a list of additions that idle threads make layer by layer. The additions are those
// of the oar tree for any number of members and either schedule, so the sum has the same bits. A process that computes
// only some of the oars computes the sums of the largest whole subtrees among them (the partials).
#pragma once

#include <vector>

#include "base/oar_tree.h"
#include "crew/replica.h"

namespace trireme::crew {

enum class Reduce { exact, fast };
enum class OarSchedule { oar_by_oar, layer_by_layer };

// A gradient slot of a member: a whole slot holds the gradient of all layers, a passing slot only that of the last few
// layers, because it is used up before the member's next oar writes there.
struct Slot {
  bool passing = false;
  int index = 0;  // among the slots of its kind
  int task = 0;   // the member's task (oar) that fills it
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct SlotSum {
  Slot into, from;
};

struct OarTask {
  int oar = 0;
  base::Range samples;
  Slot slot;
  std::vector<SlotSum> sums;  // within the member; made when this oar's gradient of a parameter is complete
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
  std::vector<SlotCount> slots;       // per member: how many it needs
  std::vector<MemberSum> sums;        // across members, in the order in which they are added
  std::vector<base::Range> partials;  // the oars of each partial; partials without samples are left out
  std::vector<SlotPlace> totals;      // where the sum of each partial ends up
};

// REQUIRES: samples >= 1, oars >= 1, members >= 1, share.oars within [0, oars) and within share.mean_over.
// Reduce::fast adds each member's oars in the order in which it computes them, and everything into one sum.
StepPlan plan_step(std::int64_t samples, int oars, const Share& share, int members, Reduce reduce,
                   OarSchedule schedule);
inline StepPlan plan_step(std::int64_t samples, int oars, int members, Reduce reduce, OarSchedule schedule) {
  return plan_step(samples, oars, {{0, oars}}, members, reduce, schedule);
}

}  // namespace trireme::crew
