// The parameter space in buckets, and the order in which those are told of.
#include "strategy/common/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "base/index.h"
#include "crew/crew.h"
#include "support/core_networks.h"

namespace trireme::strategy {
namespace {

using base::at;

void expect_cut(const crew::Crew& crew, std::int64_t bytes, int servers) {
  const std::vector<int> workers{0, 1, 4};
  const std::vector<Bucket> buckets = cut_into_buckets(crew, {bytes, workers, servers});
  const std::vector<std::int64_t> borders =
      servers > 0 ? shard_borders(crew, servers) : std::vector<std::int64_t>{0, crew.space().floats()};
  const auto& chunks = crew.chunks();
  const auto& space = crew.space();
  std::vector<int> times(chunks.size());
  const bool has_statistics = space.floats() > space.trained_floats();
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const Bucket& bucket = buckets[b];
    EXPECT_EQ(bucket.workers, workers);
    EXPECT_EQ(bucket.encoding, tensor::ElementType::float32);
    if (servers == 0) {
      EXPECT_EQ(bucket.owner, Bucket::kEverybody);
    } else if (bucket.is_statistics()) {
      EXPECT_EQ(bucket.owner, servers - 1) << "statistics belong to the last server";
    } else {
      EXPECT_GE(bucket.floats.begin, borders[at(bucket.owner)]);
      EXPECT_LE(bucket.floats.end, borders[at(bucket.owner) + 1]);
    }
    if (has_statistics && b + 1 == buckets.size()) {
      EXPECT_TRUE(bucket.chunks.empty());
      EXPECT_EQ(bucket.floats, (base::Range{space.trained_floats(), space.floats()}));
      continue;
    }
    ASSERT_FALSE(bucket.chunks.empty());
    for (std::int64_t c = bucket.chunks.begin; c < bucket.chunks.end; ++c) ++times[at(c)];
    const crew::Chunk &first = chunks[at(bucket.chunks.begin)], &last = chunks[at(bucket.chunks.end - 1)];
    EXPECT_EQ(bucket.floats, (base::Range{first.offset, last.offset + last.count}));
    if (bucket.chunks.size() > 1) {
      EXPECT_LE(bucket.floats.size() * static_cast<std::int64_t>(sizeof(float)), bytes) << "only a chunk may be larger";
    }
    for (const std::int64_t border : borders)
      EXPECT_FALSE(bucket.floats.begin < border && border < bucket.floats.end) << "crosses " << border;
  }
  EXPECT_TRUE(std::ranges::all_of(times, [](int n) { return n == 1; })) << "every chunk is in one bucket";

  // In the order in which backward is done with them.
  std::vector<std::size_t> turn(chunks.size(), crew.layers().layers().size());
  for (std::size_t layer = 0; layer < crew.layers().layers().size(); ++layer)
    for (const int chunk : crew.layers().layers()[layer].chunks) turn[at(chunk)] = layer;
  std::size_t before = 0;
  for (const Bucket& bucket : buckets) {
    if (bucket.chunks.empty()) continue;
    std::size_t done = 0;
    for (std::int64_t c = bucket.chunks.begin; c < bucket.chunks.end; ++c) done = std::max(done, turn[at(c)]);
    EXPECT_GE(done, before);
    before = done;
  }
}

TEST(Buckets, HoldEveryChunkOnceInTheOrderOfBackward) {
  for (const graph::Network& net : support::small_networks()) {
    SCOPED_TRACE(net.name());
    const crew::Crew crew(net, {.batch = 8, .oars = 4});
    for (const std::int64_t bytes : {std::int64_t{4}, std::int64_t{300}, std::int64_t{5000}, kBucketBytes}) {
      for (const int servers : {0, 1, 2, 3, 50}) expect_cut(crew, bytes, servers);
    }
  }
}

TEST(Buckets, OfADeepNetwork) {
  const crew::Crew crew(support::resnet20(), {.batch = 8, .oars = 4});
  for (const std::int64_t bytes : {std::int64_t{1} << 12, std::int64_t{1} << 16, kBucketBytes}) {
    expect_cut(crew, bytes, 0);
    expect_cut(crew, bytes, 3);
  }
  EXPECT_GT(cut_into_buckets(crew, {.bytes = 1 << 16}).size(), 5u);
  EXPECT_EQ(cut_into_buckets(crew, {.bytes = std::int64_t{1} << 40}).size(), 2u)
      << "everything trained, and the statistics";
}

TEST(ShardBorders, CutTheTrainedPartEvenly) {
  for (const graph::Network& net : support::small_networks()) {
    SCOPED_TRACE(net.name());
    const crew::Crew crew(net, {.batch = 8, .oars = 4});
    const std::int64_t all = crew.space().trained_floats();
    std::int64_t largest = 0;
    for (const crew::Chunk& chunk : crew.chunks()) largest = std::max(largest, chunk.count);
    for (const int parts : {1, 2, 3, 7, 200}) {
      const std::vector<std::int64_t> borders = shard_borders(crew, parts);
      ASSERT_EQ(borders.size(), static_cast<std::size_t>(parts) + 1);
      EXPECT_EQ(borders.front(), 0);
      EXPECT_EQ(borders.back(), all);
      EXPECT_TRUE(std::ranges::is_sorted(borders));
      for (std::size_t i = 1; i + 1 < borders.size(); ++i) {
        EXPECT_TRUE(borders[i] == all || std::ranges::count(crew.chunks(), borders[i], &crew::Chunk::offset) == 1);
        EXPECT_LE(std::abs(borders[i] - static_cast<std::int64_t>(i) * all / parts), largest + 64);
      }
    }
  }
}

// Chunks that are done on many threads in random orders: each bucket is told of once, when it is complete, in order.
TEST(Buckets, ThoseThatTheNextForwardNeedsFirstGoFirst) {
  std::vector<Bucket> buckets;
  for (std::int64_t b = 0; b < 4; ++b) buckets.push_back({{10 * b, 10 * b + 10}, {b, b + 1}});
  using Order = std::vector<std::size_t>;
  EXPECT_EQ(trained_buckets(buckets), 4u);
  EXPECT_EQ(order_of_need(buckets, 0), (Order{0, 1, 2, 3}));
  EXPECT_EQ(order_of_need(buckets, 1), (Order{0, 1, 2, 3}));
  EXPECT_EQ(order_of_need(buckets, 3), (Order{0, 3, 2, 1}));
  EXPECT_EQ(order_of_need(buckets, 9), (Order{3, 2, 1, 0}));
  buckets.push_back({{40, 42}, {}});
  EXPECT_EQ(trained_buckets(buckets), 4u);
  EXPECT_EQ(order_of_need(buckets, 2), (Order{0, 1, 3, 2, 4})) << "nobody waits for statistics";
  EXPECT_EQ(order_of_need({}, 2), Order{});
}

TEST(BucketCount, TellsInTheOrderThatIsGiven) {
  std::vector<Bucket> buckets;
  for (std::int64_t b = 0; b < 3; ++b) buckets.push_back({{b, b + 1}, {b, b + 1}});
  BucketCount count(buckets, 3);
  std::vector<std::size_t> told;
  count.start([&](std::size_t bucket) { told.push_back(bucket); }, {2, 0, 1});
  count.chunk_done(0);
  count.chunk_done(1);
  EXPECT_TRUE(told.empty());
  count.chunk_done(2);
  EXPECT_EQ(told, (std::vector<std::size_t>{2, 0, 1}));
  count.start([&](std::size_t bucket) { told.push_back(bucket); });
  count.chunk_done(1);
  count.chunk_done(0);
  EXPECT_EQ(told, (std::vector<std::size_t>{2, 0, 1, 0, 1}));
}

TEST(BucketCount, TellsOfBucketsInOrderFromManyThreads) {
  constexpr int kThreads = 4;
  std::vector<Bucket> buckets;
  int chunks = 0;
  for (const int size : {1, 3, 7, 2, 1, 16, 5}) {
    buckets.push_back({{}, {chunks, chunks + size}});
    chunks += size;
  }
  buckets.push_back({});  // statistics
  BucketCount count(buckets, at(chunks));
  for (unsigned round = 0; round < 200; ++round) {
    std::vector<std::size_t> told;
    std::vector<int> data(at(chunks));  // what a chunk's thread wrote before
    count.start([&](std::size_t bucket) {
      told.push_back(bucket);
      for (std::int64_t c = buckets[bucket].chunks.begin; c < buckets[bucket].chunks.end; ++c)
        EXPECT_EQ(data[at(c)], 1) << "bucket " << bucket << " was told of before chunk " << c;
    });
    std::vector<int> order(at(chunks));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937(round));
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = t; i < chunks; i += kThreads) {
          data[at(order[at(i)])] = 1;
          count.chunk_done(order[at(i)]);
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(told.size(), buckets.size() - 1) << "all but the statistics";
    count.statistics_done();
    std::vector<std::size_t> all(buckets.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(told, all);
  }
}

}  // namespace
}  // namespace trireme::strategy
