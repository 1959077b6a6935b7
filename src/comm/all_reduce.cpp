#include "comm/all_reduce.h"

#include <algorithm>

#include "base/error.h"

namespace trireme::comm {
namespace {
constexpr int kManyRanks = 32;                           // direct sends to all others
constexpr std::int64_t kLong = std::int64_t{256} << 10;  // bytes for which bandwidth counts more than steps
}  // namespace

const std::vector<AllReduce>& all_reduce_list() {
  static const std::vector<AllReduce> list = {
      {Algorithm::direct, "direct", "every rank combines one slice and sends it to all others", direct_all_reduce,
       direct_cost},
      {Algorithm::ring, "ring", "slices travel round the ring of ranks, twice", ring_all_reduce, ring_cost},
      {Algorithm::halving, "halving", "recursive halving and doubling", halving_all_reduce, halving_cost},
      {Algorithm::tree, "tree", "up a binomial tree to rank 0 and down again", tree_all_reduce, tree_cost},
  };
  return list;
}

const AllReduce& find_all_reduce(Algorithm algorithm, int world, std::int64_t bytes) {
  if (algorithm == Algorithm::automatic)
    algorithm = world <= kManyRanks ? Algorithm::direct : bytes >= kLong ? Algorithm::halving : Algorithm::tree;
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
