// allreduce: every worker holds all weights; gradients are added over all workers, bucket by bucket, while backward
// goes on. The bits are those of a single worker.
//
// It has two forms, which give the same bits:
//   owned  each worker adds and updates its own slices of every bucket, and the others get the new weights; an update
//          costs 1/W of the work, and the next forward begins before the last weights have come.
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
// Owned, unless an update needs more than a slice of the gradient (clipping, a penalty), sums may be made in any order,
// or an algorithm was asked for.
AllReduceForm form_of_all_reduce(const WorkerContext& worker, const AllReduceOptions& options);

std::unique_ptr<Strategy> make_all_reduce(const WorkerContext& worker, const AllReduceOptions& options);
StrategyRow all_reduce_row();

// The two forms; see all_reduce_owned.cpp and all_reduce_whole.cpp. In the owned form weights and gradients lie in the
// group's memory, or neither does: a worker that has no sums to add must know how the others add theirs.
std::unique_ptr<Strategy> make_owned_all_reduce(const WorkerContext& worker, const AllReduceOptions& options);
std::unique_ptr<Strategy> make_whole_all_reduce(const WorkerContext& worker, const AllReduceOptions& options);

}  // namespace trireme::strategy
