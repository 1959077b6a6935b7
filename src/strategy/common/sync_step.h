// SyncStep: the part of a step that all strategies for several workers share.
// One caller at a time, except: partial() and add_up() are thread-safe for different buckets.
//
// It copies this worker's partials, bucket by bucket while backward runs, to the memory from which they are sent. It
// also encodes and decodes the notes by which every worker learns the whole step's loss, times and stop requests.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/collective/exact_all_reduce.h"
#include "strategy/common/bucket_spans.h"
#include "strategy/common/buckets.h"
#include "strategy/common/reduction_plans.h"
#include "strategy/common/strategy.h"

namespace trireme::strategy {

// The buckets of a strategy in which all workers add gradients and all get the result. bucket_bytes 0: the default.
std::vector<Bucket> buckets_of(const WorkerContext& worker, std::int64_t bucket_bytes);

class SyncStep {
 public:
  // `memory` is an array of whole gradients (floats of the parameter space each), one per partial.
  SyncStep(const WorkerContext& worker, std::vector<Bucket> buckets, std::span<float> memory);

  const std::vector<Bucket>& buckets() const { return buckets_; }
  const BucketSpans& spans() const { return spans_; }
  // Which worker sends which partials of a step with so many samples.
  const comm::ExactPlan& plan(std::int64_t step, std::int64_t samples);
  // Partial p of this worker, and a part of it. Partial 0 always exists, even if the worker sends nothing.
  std::span<float> partial(std::size_t p) const;
  std::span<float> partial(std::size_t p, base::Range floats) const;
  std::size_t partials() const { return partials_; }  // of the step of the last compute()
  // How many partials this worker will have in a step.
  std::int32_t expect(const Work& work, const crew::Share& share) const;

  // Runs forward and backward. Calls ready(bucket) when all partials of a bucket are in memory: in the order of the
  // buckets, on any thread.
  crew::ComputeReport compute(const Work& work, const crew::Share& share,
                              std::function<void(std::size_t bucket)> ready);
  // The same while weights are still in flight (`need`: see crew::Replica::compute), with buckets in the given order.
  crew::ComputeReport compute(const Work& work, const crew::Share& share, std::function<void(std::size_t bucket)> ready,
                              crew::Replica::NeedWeights need, std::vector<std::size_t> order);

  // Sums a bucket over all ranks of the group, into the first partial. `algorithm` is used only if the order of
  // additions is free (--reduce fast).
  void add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan,
              comm::Algorithm algorithm = comm::Algorithm::automatic) const;
  // The same along the oar tree, of the first `partials` partials. All ranks get in `result` what use() makes of the
  // sum.
  void add_up(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan, std::size_t partials,
              std::span<float> result, const comm::UseSum& use) const;
  // The same when use() writes to memory that all ranks share, so that nothing is sent back.
  void use_sum(comm::Collectives& group, std::size_t bucket, const comm::ExactPlan& plan, std::size_t partials,
               const comm::UseSum& use) const;

  // This worker's note, note_size() doubles on every worker; and the notes of all workers decoded into a report. Losses
  // and counts are summed along the oar tree.
  std::vector<double> write_note(const Work& work, const crew::ComputeReport& computed, const StepSeconds& before,
                                 std::size_t under_way = 0) const;
  std::size_t note_size() const;
  void read_notes(std::span<const double> all, const Work& work, StepReport& report) const;

 private:
  std::vector<std::span<float>> of_bucket(std::size_t bucket, std::size_t partials) const;

  WorkerContext worker_;
  std::vector<Bucket> buckets_;
  BucketCount count_;
  BucketSpans spans_;
  std::span<float> memory_;
  std::size_t partials_ = 0;
  ReductionPlans plans_;
};

}  // namespace trireme::strategy
