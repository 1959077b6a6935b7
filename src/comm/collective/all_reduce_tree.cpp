#include <array>
#include <bit>

#include "comm/collective/all_reduce.h"

namespace trireme::comm {
namespace {

// Conversions between ranks and places in the tree; the root has place 0.
int from_root(int rank, int root, int world) { return (rank - root + world) % world; }
int to_rank(int place, int root, int world) { return (place + root) % world; }

}  // namespace

// Place p has the children p + 1, p + 2, p + 4, ...: all powers of two below p's lowest set bit.
void tree_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how, int root) {
  const int world = subgroup.world(), place = from_root(subgroup.rank(), root, world);
  for (int distance = 1; distance < world; distance *= 2) {
    if ((place & distance) != 0) {
      subgroup.run(operation, std::array{send_to(to_rank(place - distance, root, world), std::as_bytes(data))});
      return;
    }
    if (place + distance < world)
      subgroup.run(operation, std::array{combine_from(to_rank(place + distance, root, world), data, how)});
  }
}

void tree_broadcast(Subgroup& subgroup, const Operation& operation, std::span<std::byte> data, int root) {
  const int world = subgroup.world(), place = from_root(subgroup.rank(), root, world);
  int distance = static_cast<int>(std::bit_ceil(static_cast<unsigned>(world)));
  if (place != 0) {
    distance = place & -place;
    subgroup.run(operation, std::array{receive_from(to_rank(place - distance, root, world), data)});
  }
  for (distance /= 2; distance > 0; distance /= 2)
    if (place + distance < world)
      subgroup.run(operation, std::array{send_to(to_rank(place + distance, root, world), data)});
}

void tree_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how) {
  tree_reduce(subgroup, operation, data, how, 0);
  tree_broadcast(subgroup, operation, std::as_writable_bytes(data), 0);
}

MessageCost tree_cost(Spread spread, std::int64_t bytes) {
  const int levels = std::bit_width(static_cast<unsigned>(spread.world - 1));
  return {2 * levels, 2 * bytes * levels};  // at rank 0
}

}  // namespace trireme::comm
