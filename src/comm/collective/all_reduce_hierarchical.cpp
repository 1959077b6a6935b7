#include <algorithm>

#include "comm/collective/all_reduce.h"
#include "comm/collective/slices.h"

namespace trireme::comm {
namespace {

// Between hosts, each slice has one rank per host, so every rank may send to all others.
const AllReduce& between_hosts(int hosts, std::int64_t bytes) {
  return find_all_reduce(Algorithm::automatic, {hosts, hosts}, {}, bytes);
}

}  // namespace

// There are as many slices as the smallest host has ranks. Inside a host, slice s is combined at the rank of place s,
// which combines it with the ranks of that place on other hosts and sends it back to its host.
void hierarchical_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how) {
  const std::vector<int> here = subgroup.here();
  const int slices = subgroup.smallest_host(), ranks = static_cast<int>(here.size());
  const int place = static_cast<int>(std::ranges::find(here, subgroup.rank()) - here.begin());
  const auto nth = [&](int index) { return slice_of(data, index, slices); };
  std::vector<Transfer> up, down;
  for (int round = 1; round < ranks; ++round) {
    const int to = (place + round) % ranks, from = (place - round + ranks) % ranks;
    const auto rank_at = [&](int where) { return here[static_cast<std::size_t>(where)]; };
    if (to < slices) up.push_back(send_to(rank_at(to), std::as_bytes(nth(to))));
    if (place < slices) up.push_back(combine_from(rank_at(from), nth(place), how));
    if (place < slices) down.push_back(send_to(rank_at(to), std::as_bytes(nth(place))));
    if (from < slices) down.push_back(receive_from(rank_at(from), std::as_writable_bytes(nth(from))));
  }
  subgroup.run(operation, up);
  if (place < slices) {
    Subgroup others(subgroup, subgroup.same_place(place));
    const auto own = nth(place);
    between_hosts(others.world(), static_cast<std::int64_t>(own.size_bytes())).run(others, operation, own, how);
  }
  subgroup.run(operation, down);
}

MessageCost hierarchical_cost(Spread spread, std::int64_t bytes) {
  const int inside = spread.world > spread.hosts ? 2 : 0;
  const MessageCost between = between_hosts(spread.hosts, bytes).cost({spread.hosts, spread.hosts}, bytes);
  return {inside + between.steps, between.bytes};
}

}  // namespace trireme::comm
