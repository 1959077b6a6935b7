// The oar tree, against the definition: oar i of n samples holds floor(i n / V) ... floor((i+1) n / V) - 1; a node over
// m > 1 oars splits at the largest power of two below m; a node with one non-empty child is that child.
#include "base/oar_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace trireme::base {
namespace {

// Written from the definition alone: powers of two by doubling, emptiness by looking at the samples.
int split_of(int size) {
  int power = 1;
  while (2 * power < size) power *= 2;
  return power;
}
std::string expression(int begin, int end, int oars, std::int64_t samples) {
  if (end - begin == 1) {
    const bool none = (begin + 1) * samples / oars == begin * samples / oars;
    return none ? "" : std::to_string(begin);
  }
  const int middle = begin + split_of(end - begin);
  const std::string left = expression(begin, middle, oars, samples), right = expression(middle, end, oars, samples);
  if (left.empty() || right.empty()) return left + right;
  return "(" + left + "+" + right + ")";
}

TEST(OarTree, SplitsAtTheLargestPowerOfTwoBelow) {
  const std::map<int, int> expected{{2, 1}, {3, 2}, {4, 2}, {5, 4}, {6, 4}, {7, 4}, {8, 4}, {9, 8}, {16, 8}, {17, 16}};
  for (const auto& [size, split] : expected) EXPECT_EQ(oar_split(size), split) << size;
  for (int size = 2; size < 5000; ++size) ASSERT_EQ(oar_split(size), split_of(size)) << size;
  EXPECT_EQ(oar_split((1 << 30) + 1), 1 << 30);
}

TEST(OarTree, OarsCoverTheBatchEvenly) {
  for (int oars = 1; oars <= 20; ++oars)
    for (std::int64_t samples = 0; samples <= 50; ++samples) {
      std::int64_t next = 0, least = samples, most = 0;
      for (int oar = 0; oar < oars; ++oar) {
        const Range range = oar_samples(oar, oars, samples);
        ASSERT_EQ(range.begin, next);
        ASSERT_GE(range.end, range.begin);
        ASSERT_EQ(range.empty(), range.size() == 0);
        next = range.end;
        least = std::min(least, range.size());
        most = std::max(most, range.size());
      }
      ASSERT_EQ(next, samples);
      ASSERT_LE(most - least, 1) << oars << " oars, " << samples << " samples";
    }
}

TEST(OarTree, HugeBatchesDoNotOverflow) {
  const std::int64_t samples = std::int64_t{1} << 52;
  EXPECT_EQ(oar_samples(1023, 1024, samples), (Range{samples / 1024 * 1023, samples}));
}

TEST(OarTree, WorkersCoverTheOars) {
  for (int oars = 1; oars <= 20; ++oars)
    for (int workers = 1; workers <= 25; ++workers) {
      std::int64_t next = 0;
      for (int worker = 0; worker < workers; ++worker) {
        const Range range = oars_of_worker(worker, workers, oars);
        ASSERT_EQ(range.begin, next);
        ASSERT_LE(range.size(), (oars + workers - 1) / workers);
        next = range.end;
      }
      ASSERT_EQ(next, oars);
    }
}

// All nodes of the tree, as ranges.
void nodes_of(int begin, int end, std::vector<Range>& all) {
  all.push_back({begin, end});
  if (end - begin == 1) return;
  const int middle = begin + split_of(end - begin);
  nodes_of(begin, middle, all);
  nodes_of(middle, end, all);
}

TEST(OarTree, PartialsAreTheLargestWholeSubtrees) {
  for (int oars = 1; oars <= 40; ++oars) {
    std::vector<Range> nodes;
    nodes_of(0, oars, nodes);
    for (int begin = 0; begin <= oars; ++begin)
      for (int end = begin; end <= oars; ++end) {
        const std::vector<Range> partials = oar_partials(oars, {begin, end});
        std::int64_t next = begin;
        for (const Range& partial : partials) {
          ASSERT_EQ(partial.begin, next) << "gap or overlap";
          next = partial.end;
          ASSERT_NE(std::find(nodes.begin(), nodes.end(), partial), nodes.end()) << "no subtree";
          for (const Range& node : nodes) {
            const bool larger = node.begin <= partial.begin && partial.end <= node.end && node.size() > partial.size();
            ASSERT_FALSE(larger && begin <= node.begin && node.end <= end) << "a larger subtree lies inside";
          }
        }
        ASSERT_EQ(next, end);
        const double most = std::max(1.0, 2 * std::log2(static_cast<double>(oars)));
        ASSERT_LE(static_cast<double>(partials.size()), most) << oars << " oars, " << begin << " ... " << end;
      }
    ASSERT_EQ(oar_partials(oars, {0, oars}), (std::vector<Range>{{0, oars}}));
  }
}

TEST(OarTree, SumFollowsTheTree) {
  for (int oars = 1; oars <= 33; ++oars)
    for (std::int64_t samples = 1; samples <= 70; ++samples) {
      const auto sum = oar_tree_sum<std::string>(
          0, oars, [](int oar) { return std::to_string(oar); },
          [&](int oar) { return oar_samples(oar, oars, samples).empty(); },
          [](const std::string& left, const std::string& right) { return "(" + left + "+" + right + ")"; });
      ASSERT_EQ(sum, expression(0, oars, oars, samples)) << oars << " oars, " << samples << " samples";
    }
}

TEST(OarTree, SumOfFiveOarsByHand) {
  const auto add = [](const std::string& left, const std::string& right) { return "(" + left + "+" + right + ")"; };
  const auto leaf = [](int oar) { return std::to_string(oar); };
  const auto full = [](int) { return false; };
  EXPECT_EQ(oar_tree_sum<std::string>(0, 5, leaf, full, add), "(((0+1)+(2+3))+4)");
  const auto odd = [](int oar) { return oar % 2 == 1; };  // 1 and 3 are empty: no "+ 0" anywhere
  EXPECT_EQ(oar_tree_sum<std::string>(0, 5, leaf, odd, add), "((0+2)+4)");
  EXPECT_EQ(oar_tree_sum<std::string>(0, 1, leaf, full, add), "0");
}

}  // namespace
}  // namespace trireme::base
