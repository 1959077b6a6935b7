// StateMap: who holds which part of a run's state between two intervals of steps. The state is all weights and
// statistics, and for trained parameters the optimizer's slots.
#pragma once

#include <cstdint>
#include <vector>

#include "base/oar_tree.h"

namespace trireme::strategy {

struct StatePiece {
  int owner = 0;             // process
  base::Range floats{};      // of the parameter space
  std::int64_t version = 0;  // the step that it is the state after

  friend bool operator==(const StatePiece&, const StatePiece&) = default;
};
using StateMap = std::vector<StatePiece>;

// An internal error that names owner and range unless the pieces cover all `floats` of the space exactly once, and none
// is older than `version`, but for empty ones.
void check_is_whole(StateMap pieces, std::int64_t floats, std::int64_t version);

}  // namespace trireme::strategy
