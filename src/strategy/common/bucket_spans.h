// BucketSpans: what a worker's communication does with each bucket, in the trace.
// Thread-safe for different buckets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strategy/common/buckets.h"
#include "strategy/common/strategy.h"

namespace trireme::strategy {

// Lanes of a worker in the trace.
inline constexpr int kReduceLane = 2;

class BucketSpans {
 public:
  BucketSpans(const WorkerContext& worker, const std::vector<Bucket>& buckets);

  // Bucket `bucket` of this step is ready. Call it before its sum begins.
  void ready(std::size_t bucket, std::int64_t step) {
    if (lane_ != nullptr) steps_[bucket] = step;
  }
  // Runs a collective that adds up a bucket, and records it.
  template <class Run>
  void reduce(comm::Collectives& group, std::size_t bucket, const Run& run) const {
    if (lane_ == nullptr) return run();
    (void)group.take_late();
    const std::int64_t start_ns = base::now_ns();
    run();
    record(bucket, start_ns, group);
  }
  // The text for a bucket's spans: its parameters; 0 without a trace.
  std::uint32_t detail(std::size_t bucket) const { return details_.empty() ? 0 : details_[bucket].parameters; }
  double bytes(std::size_t bucket) const { return bytes_[bucket]; }

 private:
  // Texts for Span::detail.
  struct Detail {
    std::uint32_t parameters = 0;
    mutable const char* algorithm = nullptr;  // of the last sum
    mutable std::uint32_t with_algorithm = 0;
  };

  void record(std::size_t bucket, std::int64_t start_ns, comm::Collectives& group) const;

  observe::SpanRecorder* recorder_;
  observe::SpanLane* lane_ = nullptr;  // one thread at a time runs collectives
  std::vector<std::int64_t> steps_;    // per bucket, as below
  std::vector<double> bytes_;
  std::vector<Detail> details_;
};

}  // namespace trireme::strategy
