#include <algorithm>

#include "base/error.h"
#include "comm/collective/exact_all_reduce.h"

namespace trireme::comm {
namespace {

bool is_absent(const OarShares& shares, base::Range node) {
  if (shares.is_empty.empty()) return false;
  for (std::int64_t oar = node.begin; oar < node.end; ++oar)
    if (!shares.is_empty[static_cast<std::size_t>(oar)]) return false;
  return true;
}

}  // namespace

ExactPlan::ExactPlan(const OarShares& shares) {
  std::int64_t next = 0;
  for (std::size_t rank = 0; rank < shares.held.size(); ++rank) {
    const base::Range held = shares.held[rank];
    base::check(held.begin == next && held.end >= next, "rank {} holds oars {} to {}, expected from {}", rank,
                held.begin, held.end, next);
    next = held.end;
    for (const base::Range& part : base::oar_partials(shares.oars, held))
      if (!is_absent(shares, part)) partials_.push_back({static_cast<int>(rank), part});
  }
  base::check(next == shares.oars, "ranks hold {} of {} oars", next, shares.oars);
  base::check(!partials_.empty(), "none of {} oars has samples", shares.oars);
  result_ = add_up(shares, {0, shares.oars});
}

base::Range ExactPlan::of_rank(int rank) const {
  const auto below = [](const Partial& partial, int one) { return partial.rank < one; };
  const auto first = std::lower_bound(partials_.begin(), partials_.end(), rank, below);
  const auto last = std::lower_bound(first, partials_.end(), rank + 1, below);
  return {first - partials_.begin(), last - partials_.begin()};
}

int ExactPlan::add_up(const OarShares& shares, base::Range node) {
  const auto found =
      std::find_if(partials_.begin(), partials_.end(), [&](const Partial& partial) { return partial.oars == node; });
  if (found != partials_.end()) return static_cast<int>(found - partials_.begin());
  const std::int64_t middle = node.begin + base::oar_split(static_cast<int>(node.size()));
  const base::Range left{node.begin, middle}, right{middle, node.end};
  if (is_absent(shares, left)) return add_up(shares, right);
  if (is_absent(shares, right)) return add_up(shares, left);
  const int into = add_up(shares, left), from = add_up(shares, right);
  additions_.push_back({into, from});
  return into;
}

}  // namespace trireme::comm
