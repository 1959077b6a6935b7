#include "strategy/common/buckets.h"

#include <algorithm>
#include <numeric>

#include "base/index.h"

namespace trireme::strategy {
namespace {
using base::at;
}  // namespace

std::vector<Bucket> cut_into_buckets(const crew::Replica& replica, const BucketRule& rule) {
  const std::vector<std::int64_t> borders =
      rule.servers > 0 ? shard_borders(replica, rule.servers) : std::vector<std::int64_t>();
  const std::vector<crew::Chunk>& chunks = replica.chunks();
  const crew::GradientOrder order = replica.gradient_order();

  struct Cut {
    Bucket bucket;
    int turn = 0;
  };
  std::vector<Cut> cuts;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const crew::Chunk& chunk = chunks[c];
    const std::int64_t end = chunk.offset + chunk.count, floats = rule.bytes / static_cast<std::int64_t>(sizeof(float));
    const bool fits = !cuts.empty() && end - cuts.back().bucket.floats.begin <= floats &&
                      (cuts.back().turn < order.prompt_turns) == (order.turn[c] < order.prompt_turns) &&
                      std::ranges::find(borders, chunk.offset) == borders.end();
    const auto number = static_cast<std::int64_t>(c);
    if (!fits) cuts.push_back({{.floats = {chunk.offset, end}, .chunks = {number, number}}, 0});
    cuts.back().bucket.floats.end = end;
    ++cuts.back().bucket.chunks.end;
    cuts.back().turn = std::max(cuts.back().turn, order.turn[c]);
  }
  std::ranges::stable_sort(cuts, {}, &Cut::turn);
  std::vector<Bucket> buckets;
  for (const Cut& cut : cuts) buckets.push_back(cut.bucket);
  const auto& space = replica.space();
  if (space.floats() > space.trained_floats())
    buckets.push_back({.floats = {space.trained_floats(), space.floats()}, .chunks = {}});
  for (Bucket& bucket : buckets) {
    bucket.workers = rule.workers;
    if (rule.servers > 0)
      bucket.owner = static_cast<int>(std::count_if(borders.begin() + 1, borders.end() - 1,
                                                    [&](std::int64_t one) { return one <= bucket.floats.begin; }));
  }
  return buckets;
}

std::size_t trained_buckets(const std::vector<Bucket>& buckets) {
  return buckets.size() - (!buckets.empty() && buckets.back().is_statistics() ? 1 : 0);
}

std::vector<std::size_t> order_of_need(const std::vector<Bucket>& buckets, std::size_t late) {
  std::vector<std::size_t> order(buckets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(trained_buckets(buckets));
  std::reverse(end - std::min(static_cast<std::ptrdiff_t>(late), end - order.begin()), end);
  return order;
}

std::vector<std::int64_t> shard_borders(const crew::Replica& replica, int parts) {
  const std::int64_t all = replica.space().trained_floats();
  std::vector<std::int64_t> borders{0};
  for (const crew::Chunk& chunk : replica.chunks())
    while (static_cast<int>(borders.size()) < parts &&
           chunk.offset >= static_cast<std::int64_t>(borders.size()) * all / parts)
      borders.push_back(chunk.offset);
  while (static_cast<int>(borders.size()) <= parts) borders.push_back(all);
  return borders;
}

BucketCount::BucketCount(const std::vector<Bucket>& buckets, std::size_t chunks)
    : bucket_of_(chunks), left_(new std::atomic<int>[buckets.size()]), is_complete_(buckets.size()) {
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    chunks_.push_back(std::max(static_cast<int>(buckets[b].chunks.size()), 1));
    for (std::int64_t c = buckets[b].chunks.begin; c < buckets[b].chunks.end; ++c) bucket_of_[at(c)] = b;
  }
}

void BucketCount::start(std::function<void(std::size_t)> ready, std::vector<std::size_t> order) {
  ready_ = std::move(ready);
  for (std::size_t b = 0; b < chunks_.size(); ++b) left_[b].store(chunks_[b], std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  is_complete_.assign(chunks_.size(), false);
  order_ = std::move(order);
  if (order_.empty()) {
    order_.resize(chunks_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  told_ = 0;
}

void BucketCount::chunk_done(int chunk) {
  const std::size_t bucket = bucket_of_[at(chunk)];
  if (left_[bucket].fetch_sub(1, std::memory_order_acq_rel) == 1) complete(bucket);
}

void BucketCount::statistics_done() {
  if (!chunks_.empty()) complete(chunks_.size() - 1);
}

void BucketCount::complete(std::size_t bucket) {
  const std::lock_guard lock(mutex_);
  is_complete_[bucket] = true;
  for (; told_ < order_.size() && is_complete_[order_[told_]]; ++told_) ready_(order_[told_]);
}

}  // namespace trireme::strategy
