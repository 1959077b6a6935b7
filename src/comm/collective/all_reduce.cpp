#include "comm/collective/all_reduce.h"

#include <algorithm>

#include "base/error.h"

namespace trireme::comm {
namespace {

constexpr int kManyRanks = 32;  // beyond, too many simultaneous messages for connections and switches

// sends_to_all(): whether every rank sends to all others at once; is_crowded(): whether that would overload the
// network.
bool sends_to_all(Algorithm algorithm) { return algorithm == Algorithm::direct || algorithm == Algorithm::whole; }
bool is_crowded(Spread spread) {
  return spread.world > kManyRanks || (spread.hosts > 1 && spread.world > spread.hosts);
}

const AllReduce& fastest(Spread spread, const LinkCost& link_cost, std::int64_t bytes) {
  const AllReduce* best = nullptr;
  for (const AllReduce& one : all_reduce_list()) {
    if (sends_to_all(one.algorithm) && is_crowded(spread)) continue;
    if (one.algorithm == Algorithm::whole && bytes * (spread.world - 1) > kMostWhole) continue;
    if (one.algorithm == Algorithm::hierarchical && (spread.hosts == 1 || spread.world == spread.hosts)) continue;
    if (best == nullptr || link_cost.seconds(one.cost(spread, bytes)) < link_cost.seconds(best->cost(spread, bytes)))
      best = &one;
  }
  return *best;
}

}  // namespace

const std::vector<AllReduce>& all_reduce_list() {
  static const std::vector<AllReduce> list = {
      {Algorithm::direct, "direct", "every rank combines one slice and sends it to all others", direct_all_reduce,
       direct_cost},
      {Algorithm::whole, "whole", "every rank sends all of it to all others", whole_all_reduce, whole_cost},
      {Algorithm::ring, "ring", "slices travel round the ring of ranks, twice", ring_all_reduce, ring_cost},
      {Algorithm::halving, "halving", "recursive halving and doubling", halving_all_reduce, halving_cost},
      {Algorithm::tree, "tree", "up a binomial tree to rank 0 and down again", tree_all_reduce, tree_cost},
      {Algorithm::hierarchical, "hierarchical", "inside each host, then between hosts, then inside each again",
       hierarchical_all_reduce, hierarchical_cost},
  };
  return list;
}

const AllReduce& find_all_reduce(Algorithm algorithm, Spread spread, const LinkCost& link_cost, std::int64_t bytes) {
  if (algorithm == Algorithm::automatic) return fastest(spread, link_cost, bytes);
  const auto& list = all_reduce_list();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const AllReduce& one) { return one.algorithm == algorithm; });
  base::check(found != list.end(), "no all-reduce has number {}", static_cast<int>(algorithm));
  return *found;
}

Algorithm parse_algorithm(std::string_view name) {
  if (name == "auto") return Algorithm::automatic;
  std::string known = "auto";
  for (const AllReduce& one : all_reduce_list()) {
    if (one.name == name) return one.algorithm;
    known += ", " + std::string(one.name);
  }
  base::user_error("there is no all-reduce algorithm '{}'; expected one of {}", name, known);
}

}  // namespace trireme::comm
