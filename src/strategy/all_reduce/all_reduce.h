// allreduce: every worker holds all weights; gradients are all-reduced bucket by bucket, overlapped with backward.
// The factories are thread-safe. The results have the bits of a single worker.
//
// It has two forms with the same bits:
//   owned  each worker reduces and updates its own slices of every bucket and sends the new weights to the others
//          (reduce-scatter, update, all-gather). The update costs each of W workers 1/W of the work, and the next
//          forward begins before the last weights have arrived.
//   whole  every worker gets the whole sum and makes the whole update itself.
// Owned is faster but needs an update that can be made slice by slice.
#pragma once

#include <memory>

#include "strategy/registry/config.h"

namespace trireme::strategy {

struct AllReduceOptions {
  comm::Algorithm algorithm = comm::Algorithm::automatic;
  std::int64_t bucket_bytes = 0;  // 0: the default
};

enum class AllReduceForm { owned, whole };
// Owned, unless the update needs more than a slice of the gradient (clipping, an L2 penalty), the order of additions is
// free (--reduce fast), or the user chose an algorithm.
AllReduceForm form_of_all_reduce(const WorkerContext& worker, const AllReduceOptions& options);

std::unique_ptr<Strategy> make_all_reduce(const WorkerContext& worker, const AllReduceOptions& options);
StrategyRow all_reduce_row();

// The two forms; see all_reduce_owned.cpp and all_reduce_whole.cpp. REQUIRES for the owned form: both the weights and
// the gradients are in memory of the group, or neither is. A worker without partials must know which way the others
// add theirs.
std::unique_ptr<Strategy> make_owned_all_reduce(const WorkerContext& worker, const AllReduceOptions& options);
std::unique_ptr<Strategy> make_whole_all_reduce(const WorkerContext& worker, const AllReduceOptions& options);

}  // namespace trireme::strategy
