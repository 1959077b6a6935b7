#include <array>

#include "comm/collective/all_reduce.h"
#include "comm/collective/slices.h"

namespace trireme::comm {

// First half: in step s, rank r sends slice r - s to the next rank and combines slice r - s - 1 from the previous rank.
// After world - 1 steps it has the complete slice r + 1. Second half: complete slices travel the same way.
void ring_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how) {
  const int world = subgroup.world(), next = (subgroup.rank() + 1) % world,
            before = (subgroup.rank() + world - 1) % world;
  const auto nth = [&](int index) { return slice_of(data, (index + 2 * world) % world, world); };
  for (int step = 0; step < world - 1; ++step)
    subgroup.run(operation, std::array{send_to(next, std::as_bytes(nth(subgroup.rank() - step))),
                                       combine_from(before, nth(subgroup.rank() - step - 1), how)});
  for (int step = 0; step < world - 1; ++step)
    subgroup.run(operation, std::array{send_to(next, std::as_bytes(nth(subgroup.rank() + 1 - step))),
                                       receive_from(before, std::as_writable_bytes(nth(subgroup.rank() - step)))});
}

MessageCost ring_cost(Spread spread, std::int64_t bytes) {
  return {2 * (spread.world - 1), 2 * bytes * (spread.world - 1) / spread.world};
}

}  // namespace trireme::comm
