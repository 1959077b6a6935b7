#include <array>

#include "comm/all_reduce.h"
#include "comm/slices.h"

namespace trireme::comm {

// In step s of the first half rank r sends slice r - s to the next rank and combines slice r - s - 1 of the one before;
// after world - 1 steps it has all of slice r + 1. In the second half whole slices go the same way.
void ring_all_reduce(Port& port, const Operation& operation, std::span<float> data, Combine how) {
  const int world = port.world(), next = (port.rank() + 1) % world, before = (port.rank() + world - 1) % world;
  const auto nth = [&](int index) { return slice_of(data, (index + 2 * world) % world, world); };
  for (int step = 0; step < world - 1; ++step)
    port.run(operation, std::array{send_to(next, std::as_bytes(nth(port.rank() - step))),
                                   combine_from(before, nth(port.rank() - step - 1), how)});
  for (int step = 0; step < world - 1; ++step)
    port.run(operation, std::array{send_to(next, std::as_bytes(nth(port.rank() + 1 - step))),
                                   receive_from(before, std::as_writable_bytes(nth(port.rank() - step)))});
}

Cost ring_cost(int world, std::int64_t bytes) { return {2 * (world - 1), 2 * bytes * (world - 1) / world}; }

}  // namespace trireme::comm
