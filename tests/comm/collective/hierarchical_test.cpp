// Several ranks on several hosts: the hierarchical all-reduce, and what `automatic` means where.
#include <algorithm>

#include "comm/worlds.h"

namespace trireme::comm {
namespace {

std::string_view chosen(Spread spread, const LinkCost& link_cost, std::int64_t bytes) {
  return find_all_reduce(Algorithm::automatic, spread, link_cost, bytes).name;
}

TEST(Hosts, HierarchicalAllReduceForEverySpread) {
  const std::vector<std::vector<int>> spreads = {{0},          {0, 1},    {0, 0, 1, 1}, {0, 1, 0, 1, 0},
                                                 {0, 0, 0, 3}, {0, 1, 2}, {5, 5, 5},    {0, 0, 1, 1, 2, 2, 2, 2}};
  for (const std::vector<int>& hosts : spreads)
    for (const std::size_t count : {0, 1, 3, 1000, 100003}) {
      const int world = static_cast<int>(hosts.size());
      run_world(inproc_groups(world, kTestDeadline, hosts), [&](Group& group) {
        for (const Algorithm algorithm : {Algorithm::hierarchical, Algorithm::automatic}) {
          std::vector<float> data(count);
          for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<float>((group.rank() + 1) * (1 + i % 9));
          group.all_reduce(data, Reduction::sum, algorithm);
          const auto ranks = static_cast<std::size_t>(world);
          for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(data[i], static_cast<float>(ranks * (ranks + 1) / 2 * (1 + i % 9))) << i;
          group.all_reduce(data, Reduction::max, algorithm);
        }
      });
    }
}

TEST(Hosts, AutomaticTakesWhatShouldBeDoneFirst) {
  const LinkCost link_cost{100e-6, 8e-9};  // a gigabit
  EXPECT_EQ(chosen({2, 2}, link_cost, 400), "whole");
  EXPECT_EQ(chosen({2, 2}, link_cost, 44'000'000), "direct");
  EXPECT_EQ(chosen({8, 8}, link_cost, 400), "whole");
  EXPECT_EQ(chosen({8, 8}, link_cost, 1 << 16), "direct");
  EXPECT_EQ(chosen({8, 8}, link_cost, 44'000'000), "direct");
  EXPECT_EQ(chosen({64, 64}, link_cost, 400), "halving");
  EXPECT_EQ(chosen({33, 33}, link_cost, 44'000'000), "ring") << "a power of two and one: halving sends twice as much";
  EXPECT_EQ(chosen({33, 33}, link_cost, 4000), "halving");
  EXPECT_EQ(chosen({16, 4}, link_cost, 44'000'000), "hierarchical");
  EXPECT_EQ(chosen({4, 1}, link_cost, 44'000'000), "direct");
}

TEST(Hosts, CostsAreWhatTheAlgorithmsDo) {
  struct Expected {
    Algorithm algorithm;
    Spread spread;
    int steps;
    double bytes;  // in parts of the array's
  };
  for (const Expected& one : std::vector<Expected>{{Algorithm::direct, {4, 4}, 2, 1.5},
                                                   {Algorithm::whole, {4, 4}, 1, 3},
                                                   {Algorithm::ring, {4, 4}, 6, 1.5},
                                                   {Algorithm::halving, {4, 4}, 4, 1.5},
                                                   {Algorithm::halving, {5, 5}, 6, 3.5},
                                                   {Algorithm::tree, {4, 4}, 4, 4},
                                                   {Algorithm::hierarchical, {8, 4}, 4, 1.5},
                                                   {Algorithm::direct, {1, 1}, 0, 0}}) {
    const AllReduce& all_reduce = find_all_reduce(one.algorithm, one.spread, {}, 0);
    const MessageCost cost = all_reduce.cost(one.spread, 8'000'000);
    EXPECT_EQ(cost.steps, one.steps) << all_reduce.name;
    EXPECT_EQ(static_cast<double>(cost.bytes), one.bytes * 8e6) << all_reduce.name;
  }
}

}  // namespace
}  // namespace trireme::comm
