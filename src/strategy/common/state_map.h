// StateMap: which process holds which part of a run's state between two intervals of steps.
// The functions are thread-safe. The state is all weights and statistics, and the optimizer's slots of the trained
// parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "base/oar_tree.h"

namespace trireme::strategy {

struct StatePiece {
  int owner = 0;             // process
  base::Range floats{};      // of the parameter space
  std::int64_t version = 0;  // the last step that is included

  friend bool operator==(const StatePiece&, const StatePiece&) = default;
};
using StateMap = std::vector<StatePiece>;

// Throws an internal error with owner and range unless the pieces cover all `floats` of the space exactly once and no
// piece, except empty ones, is older than `version`.
void check_is_whole(StateMap pieces, std::int64_t floats, std::int64_t version);

}  // namespace trireme::strategy
