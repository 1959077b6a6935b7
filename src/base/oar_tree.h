// The oar tree: how a global batch is divided into oars, and the fixed order in which their results are added.
//
// Oar i of V, over n samples, holds samples floor(i*n/V) ... floor((i+1)*n/V)-1. A tree node over m > 1 oars splits at
// the largest power of two below m; its value is left + right; a node with one non-empty child is that child. The order
// depends on V alone, so any number of threads or machines that adds along the tree gets the same bits.
#pragma once

#include <cstdint>
#include <vector>

namespace trireme::base {

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

// The samples of one oar in a batch of `samples`.
inline Range oar_samples(int oar, int oars, std::int64_t samples) {
  return {oar * samples / oars, (oar + 1) * samples / oars};
}

// Where a node over `size` > 1 oars splits: the largest power of two below size.
int oar_split(int size);

// The oars of worker `worker` of `workers` under the even contiguous assignment.
inline Range oars_of_worker(int worker, int workers, int oars) {
  return {static_cast<std::int64_t>(worker) * oars / workers, static_cast<std::int64_t>(worker + 1) * oars / workers};
}

// The largest whole subtrees inside the oar range [begin, end), left to right: a worker's partials.
std::vector<Range> oar_partials(int oars, Range held);

// Adds `leaf(oar)` over the tree. leaf returns T; `empty(oar)` says which oars hold no samples; add(left, right) -> T.
// REQUIRES: at least one oar is not empty.
template <class T, class Leaf, class Empty, class Add>
T oar_tree_sum(int begin, int end, const Leaf& leaf, const Empty& empty, const Add& add) {
  if (end - begin == 1) return leaf(begin);
  const int middle = begin + oar_split(end - begin);
  const auto all_empty = [&](int from, int to) {
    for (int oar = from; oar < to; ++oar)
      if (!empty(oar)) return false;
    return true;
  };
  if (all_empty(begin, middle)) return oar_tree_sum<T>(middle, end, leaf, empty, add);
  if (all_empty(middle, end)) return oar_tree_sum<T>(begin, middle, leaf, empty, add);
  return add(oar_tree_sum<T>(begin, middle, leaf, empty, add), oar_tree_sum<T>(middle, end, leaf, empty, add));
}

}  // namespace trireme::base
