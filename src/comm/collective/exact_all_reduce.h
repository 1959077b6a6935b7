// Exact all-reduce: a sum with the bits of the oar tree, for any world and any assignment of oars to ranks.
// One caller per rank at a time.
//
// Each rank holds a contiguous range of oars and passes one array per partial (base::oar_partials): the sums of the
// largest whole subtrees in its range. The owner of a slice receives all partials of that slice, adds them in the order
// of the tree, and sends the result to all. With a UseSum it sends what that makes of the sum: for example weights
// updated by the gradient, so that no other rank has to update them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/oar_tree.h"
#include "comm/collective/subgroup.h"

namespace trireme::comm {

// Which rank computed which oars. Equal on all ranks.
struct OarShares {
  int oars = 1;
  std::vector<base::Range> held;  // per rank, in order, together [0, oars); may be empty
  std::vector<bool> is_empty{};   // per oar: it had no samples and counts as absent; default: none
};

// The additions of the tree over partials, ordered so that both operands of each are complete.
class ExactPlan {
 public:
  // REQUIRES: the shares cover all oars in order.
  explicit ExactPlan(const OarShares& shares);

  struct Partial {
    int rank = 0;
    base::Range oars;
  };
  // One per array, in the order of oars, so the partials of a rank are adjacent. Partials without samples are left out.
  const std::vector<Partial>& partials() const { return partials_; }
  // The range of a rank's partials in partials().
  base::Range of_rank(int rank) const;

  struct Addition {
    int into = 0, from = 0;  // partials: into += from
  };
  const std::vector<Addition>& additions() const { return additions_; }
  int result() const { return result_; }  // index of the partial that holds the final sum

 private:
  int add_up(const OarShares& shares, base::Range node);

  std::vector<Partial> partials_;
  std::vector<Addition> additions_;
  int result_ = 0;
};

// Replaces the sum of some floats, starting at index `first` of the array, by its output: writes that to the same place
// of this rank's `result`, from which all other ranks get it. Each rank gets the sum of its own slice (slices.h),
// possibly in several blocks; the slice is the same in every all-reduce of that length.
using UseSum = std::function<void(std::int64_t first, std::span<const float> sum)>;

// `partials` are this rank's, plan.of_rank(rank) many, of equal length; their content is lost. `result` may be one of
// them; with `use` it must be separate memory. All ranks pass the same function. At least one oar must have samples.
// `scratch` is reused by later calls.
void exact_all_reduce(Subgroup& subgroup, const Operation& operation, const ExactPlan& plan,
                      std::span<const std::span<float>> partials, std::span<float> result, const UseSum& use,
                      std::vector<float>& scratch);
// The same in one step, for short arrays: all partials go to all ranks, and every rank adds all of them.
void exact_whole_all_reduce(Subgroup& subgroup, const Operation& operation, const ExactPlan& plan,
                            std::span<const std::span<float>> partials, std::span<float> result,
                            std::vector<float>& scratch);

}  // namespace trireme::comm
