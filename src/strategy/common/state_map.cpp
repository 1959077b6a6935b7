#include "strategy/common/state_map.h"

#include <algorithm>

#include "base/error.h"

namespace trireme::strategy {

void check_is_whole(StateMap pieces, std::int64_t floats, std::int64_t version) {
  std::ranges::sort(pieces, {},
                    [](const StatePiece& piece) { return std::pair(piece.floats.begin, piece.floats.end); });
  std::int64_t end = 0;
  for (const StatePiece& piece : pieces) {
    base::check(piece.floats.begin == end, "process {} holds floats {} to {} of the state, expected them from {} on",
                piece.owner, piece.floats.begin, piece.floats.end, end);
    base::check(piece.version >= version || piece.floats.empty(),
                "process {} holds floats {} to {} of step {}, expected step {}", piece.owner, piece.floats.begin,
                piece.floats.end, piece.version, version);
    end = piece.floats.end;
  }
  base::check(end == floats, "nobody holds floats {} to {} of the state", end, floats);
}

}  // namespace trireme::strategy
