// The ring of a passing slot: layers that are alive together never overlap; the queue hands every chunk out once.
#include "crew/gradient_layers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "crew/layer_queue.h"
#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::crew {
namespace {

std::int64_t floats_of(const tensor::ParameterSpace& space, const GradientLayer& layer) {
  std::int64_t floats = 0;
  for (const int p : layer.parameters) floats += (space.range(p).floats() + 15) / 16 * 16;
  return floats;
}

TEST(GradientLayers, TheRingHoldsEveryLayerAndNoTwoAtOnePlace) {
  std::vector<graph::Network> nets = support::small_networks();
  nets.push_back(support::resnet20());
  for (const graph::Network& net : nets)
    for (const bool ahead : {false, true}) {
      support::SingleRun single(net, 2);
      const tensor::ParameterSpace& space = single.space();
      const GradientLayers layers(space, single.program(), ahead, false);
      std::int64_t largest = 0;
      std::vector<int> owner(static_cast<std::size_t>(layers.ring_floats()), -1);  // the layer last written there
      for (std::size_t k = 0; k < layers.layers().size(); ++k) {
        const GradientLayer& layer = layers.layers()[k];
        largest = std::max(largest, floats_of(space, layer));
        for (const int p : layer.parameters)
          for (std::int64_t i = 0; i < space.range(p).floats(); ++i) {
            int& last = owner.at(static_cast<std::size_t>(layers.ring_offset(p) + i));
            EXPECT_LT(last, layer.emptied_before) << net.name() << ": overwritten without waiting";
            EXPECT_NE(last, static_cast<int>(k)) << net.name() << ": two parameters of a layer overlap";
            last = static_cast<int>(k);
          }
        EXPECT_LE(layer.emptied_before, static_cast<int>(k)) << "a layer waits for itself";
      }
      EXPECT_GE(layers.ring_floats(), largest);
      EXPECT_LE(layers.ring_floats(), ahead ? 2 * largest : largest) << net.name();
    }
}

TEST(GradientLayers, EveryTrainedParameterIsInALayerOrUnreached) {
  std::vector<graph::Network> nets = support::small_networks();
  nets.push_back(support::wide_mlp());
  for (const graph::Network& net : nets) {
    support::SingleRun single(net, 2);
    const GradientLayers layers(single.space(), single.program(), true, true);
    std::vector<int> seen(layers.chunks().size(), 0);
    for (const GradientLayer& layer : layers.layers())
      for (const int chunk : layer.chunks) ++seen[static_cast<std::size_t>(chunk)];
    for (const int chunk : layers.unreached()) ++seen[static_cast<std::size_t>(chunk)];
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << net.name();
  }
}

TEST(GradientLayers, LateGradientsComeInRowsAndNeedNoRing) {
  const graph::Network net = support::wide_mlp();
  support::SingleRun single(net, 2);
  const tensor::ParameterSpace& space = single.space();
  const GradientLayers late(space, single.program(), true, true), kept(space, single.program(), true, false);
  int late_ones = 0;
  for (int p = 0; p < space.size(); ++p) {
    EXPECT_FALSE(kept.is_late(p));
    late_ones += late.is_late(p) ? 1 : 0;
  }
  EXPECT_EQ(late_ones, 2);
  EXPECT_EQ(late.prompt_layers(), kept.prompt_layers());
  EXPECT_EQ(kept.layers().size(), static_cast<std::size_t>(kept.prompt_layers()));
  EXPECT_EQ(late.layers().size(), kept.layers().size() + 2);
  EXPECT_LT(late.ring_floats(), 10000);
  EXPECT_GT(kept.ring_floats(), 300000);
  ASSERT_EQ(late.chunks().size(), kept.chunks().size()) << "clipping adds the chunks' norms: they must be the same";
  for (std::size_t c = 0; c < late.chunks().size(); ++c) {
    const Chunk& chunk = late.chunks()[c];
    EXPECT_EQ(chunk.offset, kept.chunks()[c].offset);
    EXPECT_EQ(chunk.count, kept.chunks()[c].count);
    EXPECT_LE(chunk.count, late.most_chunk_floats());
    if (!late.is_late(chunk.parameter)) continue;
    const std::int64_t row = space.range(chunk.parameter).shape.count_from(1);
    EXPECT_EQ((chunk.offset - space.range(chunk.parameter).offset) % row, 0);
    EXPECT_EQ(chunk.count % row, 0);
  }
}

// As a thread with nothing else to do: false when the step was given up.
bool wait_until_used(LayerQueue& queue, base::EventCount& events, int layer, LayerQueue::Cursor& cursor,
                     LayerQueue::RunChunk run) {
  while (!queue.given_up()) {
    const std::uint32_t seen = events.latest();
    const bool helped = queue.help(cursor, LayerQueue::Take::all, run);
    if (queue.used_before(layer, cursor)) return true;
    if (!helped) events.wait_after(seen);
  }
  return false;
}

// Members arrive at their own pace; a chunk must see everybody's arrival and be taken once.
TEST(LayerQueue, EveryChunkOnceAfterAllArrived) {
  const std::vector<int> chunks{3, 0, 1, 40, 2, 7};
  for (const auto& [members, late] : {std::pair{1, 0}, {1, 2}, {2, 0}, {2, 3}, {5, 1}, {5, 6}}) {
    base::EventCount events(members > 1, false);
    LayerQueue queue(chunks, static_cast<int>(chunks.size()) - late, events);
    for (int step = 0; step < 20; ++step) {
      queue.start(members);
      std::vector<std::atomic<int>> arrived(chunks.size());
      std::vector<std::atomic<int>> taken(chunks.size());
      std::atomic<int> early{0};
      const auto member = [&](int m) {
        LayerQueue::Cursor cursor;
        const auto run = [&](int layer, int) {
          if (arrived[static_cast<std::size_t>(layer)].load() != members) ++early;
          ++taken[static_cast<std::size_t>(layer)];
        };
        for (std::size_t k = 0; k < chunks.size(); ++k) {
          if ((m + step) % 3 == 0) std::this_thread::yield();
          ++arrived[k];
          queue.arrive(static_cast<int>(k));
          queue.help(cursor, (m + step) % 2 == 0 ? LayerQueue::Take::all : LayerQueue::Take::share, run);
        }
        EXPECT_TRUE(wait_until_used(queue, events, queue.layers(), cursor, run));
        for (std::size_t k = 0; k < chunks.size(); ++k) EXPECT_EQ(taken[k].load(), chunks[k]) << k;
      };
      std::vector<std::thread> threads;
      for (int m = 1; m < members; ++m) threads.emplace_back(member, m);
      member(0);
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(early.load(), 0);
    }
  }
}

// Whoever comes first leaves the others their part, and comes back for what nobody took.
TEST(LayerQueue, AShareLeavesTheRest) {
  base::EventCount events(true, false);
  LayerQueue queue({9, 1, 4}, 3, events);
  queue.start(2);
  for (int k = 0; k < 3; ++k) queue.arrive(k), queue.arrive(k);
  std::vector<std::pair<int, int>> taken;
  const auto run = [&](int layer, int chunk) { taken.emplace_back(layer, chunk); };
  using Pairs = std::vector<std::pair<int, int>>;
  LayerQueue::Cursor first, second;
  EXPECT_TRUE(queue.help(first, LayerQueue::Take::share, run));
  EXPECT_EQ(taken, (Pairs{{0, 0}, {0, 1}, {0, 2}, {0, 3}}));
  taken.clear();
  EXPECT_TRUE(queue.help(second, LayerQueue::Take::share, run));
  EXPECT_EQ(taken, (Pairs{{0, 4}, {0, 5}, {0, 6}, {0, 7}}));
  taken.clear();
  EXPECT_TRUE(queue.help(second, LayerQueue::Take::share, run));
  EXPECT_EQ(taken, (Pairs{{0, 8}, {1, 0}, {2, 0}, {2, 1}}));
  taken.clear();
  EXPECT_TRUE(queue.help(first, LayerQueue::Take::all, run));
  EXPECT_EQ(taken, (Pairs{{2, 2}, {2, 3}}));
  EXPECT_FALSE(queue.help(second, LayerQueue::Take::all, run));
  EXPECT_TRUE(queue.used_before(3, second));
}

TEST(LayerQueue, LateLayersComeOneChunkAtATimeAfterAllElse) {
  base::EventCount events(true, false);
  LayerQueue queue({2, 1, 3}, 2, events);  // the last one is late
  queue.start(1);
  queue.arrive(0);
  queue.arrive(2);
  std::vector<int> taken;
  const auto run = [&](int layer, int) { taken.push_back(layer); };
  LayerQueue::Cursor cursor;
  EXPECT_TRUE(queue.help(cursor, LayerQueue::Take::share, run));
  EXPECT_EQ(taken, (std::vector<int>{0, 0}));
  EXPECT_FALSE(queue.help(cursor, LayerQueue::Take::share, run)) << "the late one is for those with nothing else to do";
  EXPECT_TRUE(queue.help(cursor, LayerQueue::Take::all, run));
  EXPECT_EQ(taken, (std::vector<int>{0, 0, 2}));
  queue.arrive(1);
  EXPECT_TRUE(queue.help(cursor, LayerQueue::Take::all, run));
  EXPECT_EQ(taken, (std::vector<int>{0, 0, 2, 1, 2}));
  EXPECT_FALSE(queue.used_before(3, cursor));
  EXPECT_TRUE(queue.help(cursor, LayerQueue::Take::all, run));
  EXPECT_FALSE(queue.help(cursor, LayerQueue::Take::all, run));
  EXPECT_TRUE(queue.used_before(3, cursor));
}

// A shorter batch may leave a member without oars; it still waits, and is woken.
TEST(LayerQueue, AMemberWithoutOarsIsWoken) {
  base::EventCount events(true, false);
  LayerQueue queue({1, 5}, 1, events);
  for (int step = 0; step < 200; ++step) {
    queue.start(1);
    std::thread idle([&] {
      LayerQueue::Cursor cursor;
      EXPECT_TRUE(wait_until_used(queue, events, 2, cursor, [](int, int) {}));
    });
    LayerQueue::Cursor cursor;
    for (int k = 0; k < 2; ++k) {
      queue.arrive(k);
      queue.help(cursor, LayerQueue::Take::all, [](int, int) {});
    }
    EXPECT_TRUE(wait_until_used(queue, events, 2, cursor, [](int, int) {}));
    idle.join();
  }
}

TEST(LayerQueue, NobodyWaitsForAStepGivenUp) {
  base::EventCount events(true, false);
  LayerQueue queue({2, 2}, 2, events);
  queue.start(2);
  bool finished = true;
  std::thread waiting([&] {
    LayerQueue::Cursor cursor;
    queue.arrive(0);
    finished = wait_until_used(queue, events, 1, cursor, [](int, int) {});
  });
  queue.give_up();
  waiting.join();
  EXPECT_FALSE(finished);
  queue.start(1);
  LayerQueue::Cursor cursor;
  queue.arrive(0);
  EXPECT_TRUE(wait_until_used(queue, events, 1, cursor, [](int, int) {})) << "the next step is a fresh one";
}

}  // namespace
}  // namespace trireme::crew
