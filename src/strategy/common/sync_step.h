// SyncStep: what all synchronous strategies share: the oars' sums of a step on this worker, copied bucket by bucket to
// where they are sent from, while backward goes on; and the notes by which all workers know the whole step.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/collective/exact_all_reduce.h"
#include "strategy/common/buckets.h"
#include "strategy/common/reduction_plans.h"
#include "strategy/common/strategy.h"

namespace trireme::strategy {

// The buckets of a strategy in which all workers add and have the result. bucket_bytes 0: the default.
std::vector<Bucket> buckets_of(const WorkerContext& worker, std::int64_t bucket_bytes);

class SyncStep {
 public:
  // `memory` holds whole gradients one after the other.
  SyncStep(const WorkerContext& worker, std::vector<Bucket> buckets, std::span<float> memory);

  const std::vector<Bucket>& buckets() const { return buckets_; }
  // Who sends which partials of such a step.
  const comm::ExactPlan& plan(std::int64_t step, std::int64_t samples);
  // Partial p of this worker, and a part of it. There is always one, also where nothing is sent.
  std::span<float> partial(std::size_t p) const;
  std::span<float> partial(std::size_t p, base::Range floats) const;
  std::size_t partials() const { return partials_; }  // of the step that is computed
  // How many a step will have.
  std::int32_t expect(const Work& work, const crew::Share& share) const;

  // Forward and backward; ready(bucket) when all partials of a bucket lie in memory, in order, from any thread.
  crew::ComputeReport compute(const Work& work, const crew::Share& share,
                              std::function<void(std::size_t bucket)> ready);
  // The same while weights are on their way (crew::Replica::compute), and buckets in an order of their own.
  crew::ComputeReport compute(const Work& work, const crew::Share& share, std::function<void(std::size_t bucket)> ready,
                              crew::Replica::NeedWeights need, std::vector<std::size_t> order);

  // A bucket's sum over all ranks of the group, in the first partial; `algorithm` where any order of additions will do.
  void add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan,
              comm::Algorithm algorithm = comm::Algorithm::automatic) const;
  // The same, exact, of so many partials; what all get, in `result`, is what use() makes of it.
  void add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan, std::size_t partials,
              std::span<float> result, const comm::UseSum& use) const;
  // The same where use() writes to memory of all ranks.
  void use_sum(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan, std::size_t partials,
               const comm::UseSum& use) const;

  // The notes of all workers as bytes of equal length, and back; losses and counts are summed along the oar tree.
  std::vector<double> write_note(const Work& work, const crew::ComputeReport& computed, const StepSeconds& before,
                                 std::size_t under_way = 0) const;
  std::size_t note_size() const;
  void read_notes(std::span<const double> all, const Work& work, StepReport& report) const;

 private:
  std::vector<std::span<float>> of_bucket(std::size_t bucket, std::size_t partials) const;

  WorkerContext worker_;
  std::vector<Bucket> buckets_;
  BucketCount count_;
  std::span<float> memory_;
  std::size_t partials_ = 0;
  ReductionPlans plans_;
};

}  // namespace trireme::strategy
