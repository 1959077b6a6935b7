// The exact all-reduce has the bits of the oar tree added up in one place, for every world, assignment and count of
// oars.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "base/oar_tree.h"
#include "comm/collective/slices.h"
#include "comm/worlds.h"

namespace trireme::comm {
namespace {

// Numbers whose sums depend on the order.
std::vector<float> oar_values(int oar, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(oar) * 7919u + 1u);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random) * std::exp2(static_cast<float>(oar % 5));
  return values;
}

std::vector<float> tree_sum(base::Range node, const std::vector<bool>& is_empty, std::size_t count) {
  return base::oar_tree_sum<std::vector<float>>(
      static_cast<int>(node.begin), static_cast<int>(node.end), [&](int oar) { return oar_values(oar, count); },
      [&](int oar) { return is_empty[static_cast<std::size_t>(oar)]; },
      [](std::vector<float> left, const std::vector<float>& right) {
        for (std::size_t i = 0; i < left.size(); ++i) left[i] += right[i];
        return left;
      });
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

struct Assignment {
  std::string name;
  std::vector<base::Range> held;
};

std::vector<Assignment> assignments(int oars, int world) {
  const auto ranks = static_cast<std::size_t>(world);
  Assignment equal{"equal", {}}, first{"first has all", std::vector<base::Range>(ranks, {oars, oars})},
      last{"last has all", std::vector<base::Range>(ranks, {0, 0})}, unequal{"unequal", {}};
  first.held[0] = {0, oars};
  last.held[ranks - 1] = {0, oars};
  std::int64_t next = 0;
  for (int rank = 0; rank < world; ++rank) {
    equal.held.push_back(base::oars_of_worker(rank, world, oars));
    const std::int64_t end = rank + 1 == world ? oars : std::min<std::int64_t>(oars, next + rank * 2 % 5);
    unequal.held.push_back({next, end});
    next = end;
  }
  return {equal, unequal, first, last};
}

// Over any transport, in memory of the group or in other memory.
struct Way {
  std::string transport = "inproc";
  bool is_shared = false;
};

void check_world(int oars, const Assignment& assignment, const std::vector<bool>& is_empty, std::size_t count,
                 const Way& way = {}) {
  const OarShares shares{oars, assignment.held, is_empty};
  const ExactPlan plan(shares);
  const auto expected = tree_sum({0, oars}, is_empty, count);
  const int world = static_cast<int>(assignment.held.size());
  run_over(way.transport, world, [&](Group& group) {
    const base::Range own = plan.of_rank(group.rank());
    const std::size_t most = plan.partials().size();
    const auto window = way.is_shared ? group.allocate((1 + most) * count * sizeof(float)) : nullptr;
    std::vector<float> memory((1 + most) * count);
    const std::span<float> all =
        window ? std::span(reinterpret_cast<float*>(window->own().data()), memory.size()) : std::span(memory);
    std::vector<std::span<float>> spans;
    for (std::int64_t i = own.begin; i < own.end; ++i) {
      const auto values = tree_sum(plan.partials()[static_cast<std::size_t>(i)].oars, is_empty, count);
      spans.push_back(all.subspan((1 + spans.size()) * count, count));
      std::copy(values.begin(), values.end(), spans.back().begin());
    }
    // In a partial's place where there is one, or elsewhere.
    const auto result = !spans.empty() && group.rank() % 2 == 0 ? spans[0] : all.first(count);
    group.exact_all_reduce(plan, spans, result);
    EXPECT_TRUE(same_bits(result, expected)) << assignment.name << ", " << oars << " oars, rank " << group.rank();
  });
}

TEST(ExactAllReduce, HasTheBitsOfTheTree) {
  for (const int world : {1, 2, 3, 4, 5, 7, 8})
    for (const int oars : {1, 2, 3, 5, 8, 13, 16})
      for (const Assignment& assignment : assignments(oars, world))
        check_world(oars, assignment, std::vector<bool>(static_cast<std::size_t>(oars)), 103);
}

TEST(ExactAllReduce, HasTheBitsOfTheTreeOverEveryTransport) {
  for (const std::string& transport : all_transports())
    for (const bool is_shared : {false, true})
      for (const int world : worlds_of({1, 2, 3, 4, 5, 7, 8}))
        for (const Assignment& assignment : assignments(13, world))
          check_world(13, assignment,
                      {true, false, false, true, false, false, false, false, false, false, false, false, true}, 5003,
                      {transport, is_shared});
}

TEST(ExactAllReduce, OfAnySize) {
  for (const std::size_t count : {0, 1, 3, 1000, 1000007})
    for (const Assignment& assignment : assignments(6, 3)) check_world(6, assignment, std::vector<bool>(6), count);
  for (const int world : {2, 4, 5})  // in rounds
    for (const Assignment& assignment : assignments(13, world))
      check_world(13, assignment, std::vector<bool>(13), 400009);
}

TEST(ExactAllReduce, LeavesEmptyOarsOut) {
  for (unsigned mask = 0; mask < 31; ++mask) {
    std::vector<bool> is_empty;
    for (unsigned oar = 0; oar < 5; ++oar) is_empty.push_back((mask >> oar & 1) != 0);
    for (const Assignment& assignment : assignments(5, 3)) check_world(5, assignment, is_empty, 17);
  }
}

// Each rank's result moves by the sum where the rank owns it, and all get it.
void check_use(const std::string& transport, bool is_shared, int world, std::size_t count) {
  OarShares shares{world, {}, {}};
  for (int rank = 0; rank < world; ++rank) shares.held.push_back({rank, rank + 1});
  const ExactPlan plan(shares);
  std::vector<float> expected = tree_sum({0, world}, std::vector<bool>(static_cast<std::size_t>(world)), count);
  for (float& value : expected) value = 0.5f - 0.1f * value;
  run_over(transport, world, [&](Group& group) {
    const auto window = is_shared ? group.allocate(2 * count * sizeof(float)) : nullptr;
    std::vector<float> memory(2 * count);
    const std::span<float> all =
        window ? std::span(reinterpret_cast<float*>(window->own().data()), memory.size()) : std::span(memory);
    const std::span<float> partial = all.first(count), result = all.subspan(count);
    std::ranges::copy(oar_values(group.rank(), count), partial.begin());
    std::ranges::fill(result, 0.5f);
    std::vector<int> used(count);
    group.exact_all_reduce(plan, std::array{partial}, result, [&](std::int64_t first, std::span<const float> sum) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const std::size_t at = static_cast<std::size_t>(first) + i;
        result[at] -= 0.1f * sum[i];
        ++used[at];
      }
    });
    EXPECT_TRUE(same_bits(result, expected)) << transport << ", rank " << group.rank() << " of " << world;
    std::vector<int> owned(count);
    std::ranges::fill(slice_of(std::span(owned), group.rank(), world), 1);
    EXPECT_EQ(used, owned) << "a rank is asked about its slice, once";
  });
}

TEST(ExactAllReduce, TheOwnerOfASliceMakesWhatAllGet) {
  for (const std::string& transport : all_transports())
    for (const bool is_shared : {false, true})
      for (const int world : worlds_of({1, 2, 3, 5, 8}))
        for (const std::size_t count : {1, 5, 3000, 50021}) check_use(transport, is_shared, world, count);
}

// The same in memory that all ranks share: the result is in one place. A rank may have nothing to add.
TEST(ExactAllReduce, WhatIsMadeOfASumMayBeInOnePlaceForAll) {
  for (const std::string& transport : all_transports())
    for (const int world : worlds_of({1, 2, 3, 5, 8}))
      for (const std::size_t count : {1, 5, 3000, 50021}) {
        const int oars = std::max(1, world - 1);
        OarShares shares{oars, {}, {}};
        for (int rank = 0; rank < world; ++rank)
          shares.held.push_back({std::min(rank, oars), std::min(rank + 1, oars)});
        const ExactPlan plan(shares);
        std::vector<float> expected = tree_sum({0, oars}, std::vector<bool>(static_cast<std::size_t>(oars)), count);
        for (float& value : expected) value = 0.5f - 0.1f * value;
        run_over(transport, world, [&](Group& group) {
          const auto window = group.allocate(2 * count * sizeof(float));
          if (window->part(world - 1).empty() || window->part(0).empty()) return;  // the transport has no such memory
          const std::span<float> partial(reinterpret_cast<float*>(window->own().data()), count);
          const std::span<float> result(reinterpret_cast<float*>(window->part(0).data()) + count, count);
          std::vector<std::span<float>> partials;
          if (group.rank() < oars) partials.push_back(partial);
          if (group.rank() < oars) std::ranges::copy(oar_values(group.rank(), count), partial.begin());
          if (group.rank() == 0) std::ranges::fill(result, 0.5f);
          group.barrier();
          for (int turn = 0; turn < 2; ++turn) {
            group.exact_use(plan, partials, static_cast<std::int64_t>(count),
                            [&](std::int64_t first, std::span<const float> sum) {
                              for (std::size_t i = 0; i < sum.size(); ++i)
                                result[static_cast<std::size_t>(first) + i] = 0.5f - 0.1f * sum[i];
                            });
            EXPECT_TRUE(same_bits(result, expected)) << transport << ", rank " << group.rank() << " of " << world;
            group.barrier();
          }
        });
      }
}

TEST(Collectives, SharesSlices) {
  for (const std::string& transport : all_transports())
    for (const int world : worlds_of({1, 2, 3, 5, 8}))
      for (const std::size_t count : {0, 1, 7, 300007})
        run_over(transport, world, [&](Group& group) {
          std::vector<float> data(count, -1.0f);
          const auto own = slice_of(std::span(data), group.rank(), world);
          std::ranges::fill(own, static_cast<float>(group.rank()));
          group.share_slices(data);
          for (int rank = 0; rank < world; ++rank)
            for (const float value : slice_of(std::span(data), rank, world)) ASSERT_EQ(value, static_cast<float>(rank));
        });
}

TEST(ExactPlan, OneWholePartialPerRankWhereSharesFollowTheTree) {
  const ExactPlan plan({8, {{0, 2}, {2, 4}, {4, 6}, {6, 8}}, {}});
  EXPECT_EQ(plan.partials().size(), 4u);
  EXPECT_EQ(plan.additions().size(), 3u);
  EXPECT_EQ(plan.result(), 0);
}

}  // namespace
}  // namespace trireme::comm
