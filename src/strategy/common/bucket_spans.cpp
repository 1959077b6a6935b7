#include "strategy/common/bucket_spans.h"

#include <fmt/format.h>

#include <limits>

namespace trireme::strategy {
namespace {

std::string parameters_of(const crew::Replica& replica, const Bucket& bucket) {
  if (bucket.is_statistics()) return "running statistics";
  const std::vector<crew::Chunk>& chunks = replica.chunks();
  const auto name = [&](std::int64_t chunk) {
    return replica.space().range(chunks[static_cast<std::size_t>(chunk)].parameter).name;
  };
  const std::string first = name(bucket.chunks.begin), last = name(bucket.chunks.end - 1);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

}  // namespace

BucketSpans::BucketSpans(const WorkerContext& worker, const std::vector<Bucket>& buckets)
    : recorder_(worker.spans), steps_(buckets.size()) {
  for (const Bucket& bucket : buckets)
    bytes_.push_back(static_cast<double>(bucket.floats.size()) * static_cast<double>(sizeof(float)));
  if (recorder_ == nullptr) return;
  lane_ = &recorder_->lane(kReduceLane, "sums");
  for (const Bucket& bucket : buckets) details_.push_back({recorder_->text(parameters_of(worker.replica, bucket))});
}

// Each worker's arrow goes to the next one, although all send to all: that many can be looked at.
void BucketSpans::record(std::size_t bucket, std::int64_t start_ns, comm::Collectives& group) const {
  const std::int64_t end_ns = base::now_ns(), step = steps_[bucket];
  const int rank = group.rank(), world = group.world(), late = group.take_late();
  const auto arrow = [&](int from) {
    return world == 1 ? 0
                      : observe::arrow_number(observe::SpanKind::reduce, step, from, (from + 1) % world,
                                              static_cast<std::int64_t>(bucket));
  };
  const Detail& detail = details_[bucket];
  if (detail.algorithm != group.algorithm()) {
    detail.algorithm = group.algorithm();
    detail.with_algorithm =
        recorder_->text(fmt::format("{}; {}", recorder_->text_of(detail.parameters), detail.algorithm));
  }
  lane_->add({.start_ns = start_ns,
              .end_ns = end_ns,
              .step = step,
              .arrow_out = arrow(rank),
              .arrow_in = arrow((rank + world - 1) % world),
              .arguments = {static_cast<double>(bucket), bytes_[bucket],
                            late < 0 ? std::numeric_limits<double>::quiet_NaN() : late},
              .kind = observe::SpanKind::reduce,
              .detail = detail.with_algorithm});
}

}  // namespace trireme::strategy
