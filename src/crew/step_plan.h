// StepPlan: who rows which oar of a batch, into which gradient slot, and how the slots are added along the oar tree.
//
// Each member rows a contiguous range of oars, one after the other. A finished subtree inside one member's range is
// added at once, layer by layer while its gradient is still in cache ("right into left", freeing the right slot). What
// crosses members is left as a list of additions, done chunk by chunk by everybody after the last oar. The additions
// made are those of the oar tree whatever the number of members, so the sum has the same bits.
#pragma once

#include <vector>

#include "base/oar_tree.h"

namespace trireme::crew {

struct SlotSum {
  int into = 0, from = 0;  // slots
};

struct OarTask {
  int oar = 0;
  base::Range samples;
  int slot = 0;
  std::vector<SlotSum> sums;  // within the member, after this oar's gradient of a parameter is there
};

// A gradient slot of a member.
struct SlotPlace {
  int member = 0;
  int slot = 0;
};

struct MemberSum {
  SlotPlace into, from;
};

struct StepPlan {
  std::vector<std::vector<OarTask>> members;
  std::vector<int> slots;       // gradient slots each member needs
  std::vector<MemberSum> sums;  // across members, in order
  SlotPlace total;              // where the whole sum ends
};

enum class Reduce { exact, fast };

// REQUIRES: samples >= 1, oars >= 1, members >= 1. `fast` adds a member's oars in the order rowed, two slots each.
StepPlan plan_step(std::int64_t samples, int oars, int members, Reduce reduce);

}  // namespace trireme::crew
