// The exact all-reduce: whatever the world and whoever computed which oars, the sum has the bits of the oar tree.
//
// Each rank holds a contiguous range of oars and hands over one array per partial (base::oar_partials): the sums of the
// largest whole subtrees in its range. The owner of a slice gets all partials of that slice, adds them in the order of
// the tree, and sends the result to all; or, where it is told how, what it makes of it: weights that it moves by a
// gradient, say, so that nobody else has to.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/oar_tree.h"
#include "comm/collective/subgroup.h"

namespace trireme::comm {

// Who computed what. Equal on all ranks.
struct OarShares {
  int oars = 1;
  std::vector<base::Range> held;  // per rank, in order, together [0, oars); may be empty
  std::vector<bool> is_empty{};   // per oar: had no samples, counts as absent; none given: no oar is empty
};

// The additions of the tree over partials, in an order in which both sides are there.
class ExactPlan {
 public:
  // Shares that do not cover the oars in order are a broken promise.
  explicit ExactPlan(const OarShares& shares);

  struct Partial {
    int rank = 0;
    base::Range oars;
  };
  // One per array, in the order of oars; the partials of a rank follow each other. Those of empty oars are left out.
  const std::vector<Partial>& partials() const { return partials_; }
  // Indices into partials().
  base::Range of_rank(int rank) const;

  struct Addition {
    int into = 0, from = 0;  // partials: into += from
  };
  const std::vector<Addition>& additions() const { return additions_; }
  int result() const { return result_; }  // the partial that holds the sum in the end

 private:
  int add_up(const OarShares& shares, base::Range node);

  std::vector<Partial> partials_;
  std::vector<Addition> additions_;
  int result_ = 0;
};

// Makes of some floats of a sum, the first of which is number `first` of the array, what is to stand in their place: in
// this rank's `result`, from where all others get it. A rank gets the sum of its slice (slices.h), always the same.
using UseSum = std::function<void(std::int64_t first, std::span<const float> sum)>;

// `partials` are this rank's, as many as plan.of_rank(rank), of equal length; their content is lost. `result` may be
// one of them, or memory of its own; the latter where the sum is used, by the same function on all ranks. At least one
// oar of all must not be empty. `scratch` is kept for the next time.
void exact_all_reduce(Subgroup& subgroup, const Operation& operation, const ExactPlan& plan,
                      std::span<const std::span<float>> partials, std::span<float> result, const UseSum& use,
                      std::vector<float>& scratch);
// In one step, for short arrays: all partials go to everyone, and every rank adds all of them.
void exact_whole_all_reduce(Subgroup& subgroup, const Operation& operation, const ExactPlan& plan,
                            std::span<const std::span<float>> partials, std::span<float> result,
                            std::vector<float>& scratch);

}  // namespace trireme::comm
