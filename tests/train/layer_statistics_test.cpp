// Norms and histograms of parameters, and how fast links are.
#include "train/results/layer_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "train/helm/link_speeds.h"

namespace trireme::train {
namespace {

TEST(LayerStatistics, AreOfTheValuesWithoutPadding) {
  // Blocked channels: 3 channels in a block of 8 leave five padded ones.
  const tensor::Shape shape{2, 3};
  const tensor::ParameterSpace space(
      {{"w", tensor::ParameterKind::trained, shape, tensor::Layout::channels_blocked(shape, 8)},
       {"mean", tensor::ParameterKind::statistic, tensor::Shape{4}, tensor::Layout::plain(tensor::Shape{4})},
       {"b", tensor::ParameterKind::trained, tensor::Shape{2}, tensor::Layout::plain(tensor::Shape{2})}});
  std::vector<float> weights(static_cast<std::size_t>(space.floats()));
  const std::vector<float> plain{1, 2, 3, 4, 5, 6};
  tensor::from_plain(space.range(0).layout, plain.data(), weights.data() + space.range(0).offset);
  weights[static_cast<std::size_t>(space.range(2).offset)] = 3;
  weights[static_cast<std::size_t>(space.range(2).offset) + 1] = 4;
  StepUpdates updates;
  updates.gradients.assign(static_cast<std::size_t>(space.trained_floats()), 2.0f);
  updates.updates.assign(static_cast<std::size_t>(space.trained_floats()), 0.5f);
  const std::int64_t begin = space.range(0).offset, end = begin + space.range(0).floats();
  updates.add({begin + 8, end});
  EXPECT_FALSE(updates.knows({begin, end}));
  updates.add({begin, begin + 8});
  EXPECT_TRUE(updates.knows({begin, end})) << "two halves of it";
  const auto all = layer_statistics(space, weights, updates);
  ASSERT_EQ(all.size(), 2u) << "of what is trained";
  EXPECT_EQ(all[0].name, "w");
  EXPECT_EQ(all[0].elements, 6);
  EXPECT_DOUBLE_EQ(all[0].weights, std::sqrt(91.0));
  EXPECT_DOUBLE_EQ(all[0].gradients, std::sqrt(6 * 4.0));
  EXPECT_DOUBLE_EQ(all[0].updates, std::sqrt(6 * 0.25));
  EXPECT_EQ(all[0].weight_values.low, 1);
  EXPECT_EQ(all[0].weight_values.high, 6);
  EXPECT_EQ(std::accumulate(all[0].weight_values.counts.begin(), all[0].weight_values.counts.end(), 0), 6);
  EXPECT_EQ(all[1].weights, 5);
  EXPECT_TRUE(std::isnan(all[1].gradients)) << "nobody has sent them";
  EXPECT_TRUE(all[1].gradient_values.counts.empty());
}

TEST(LayerStatistics, HistogramsOfOddValues) {
  EXPECT_TRUE(histogram_of({}).counts.empty());
  const std::vector<float> equal(5, 0.25f);
  const observe::Histogram one = histogram_of(equal);
  EXPECT_LT(one.low, one.high) << "bins have a width";
  EXPECT_EQ(std::accumulate(one.counts.begin(), one.counts.end(), 0), 5);
  const std::vector<float> odd{0, 1, std::nanf(""), INFINITY, 30};
  const observe::Histogram some = histogram_of(odd);
  EXPECT_EQ(some.counts.size(), 30u);
  EXPECT_EQ(some.counts[0], 1);
  EXPECT_EQ(some.counts[1], 1);
  EXPECT_EQ(some.counts[29], 1) << "the largest value is in the last bin";
}

TEST(LinkSpeeds, NameTheHostWhoseLinksAreAllSlow) {
  LinkSpeeds links;
  EXPECT_FALSE(links.verdict());
  // Worker 1's host can send and receive 10 MB/s, the others 500 MB/s.
  links.set(0, {{"a", "b", 1e9, 100}, {"a", "c", 1e9, 2}});
  links.set(1, {{"b", "a", 1e9, 100}, {"b", "c", 1e9, 90}});
  links.set(2, {{"c", "a", 1e9, 2}, {"c", "b", 1e9, 100}});
  ASSERT_TRUE(links.verdict());
  EXPECT_EQ(links.verdict()->workers, (std::vector<int>{1}));
  EXPECT_DOUBLE_EQ(links.verdict()->bytes_per_second, 1e7);
  EXPECT_DOUBLE_EQ(links.verdict()->others, 5e8);
  links.lose(0);
  EXPECT_EQ(links.verdict()->workers, (std::vector<int>{0})) << "the same host; its worker has moved up";
  LinkSpeeds two;
  two.set(0, {{"a", "b", 1e9, 100}});
  two.set(1, {{"b", "a", 1e9, 1}});
  EXPECT_TRUE(two.verdict()->workers.empty()) << "two hosts have one link: whose fault it is, nobody knows";
  EXPECT_DOUBLE_EQ(two.verdict()->bytes_per_second, 1e7);
}

TEST(LinkSpeeds, BlameNobodyWithoutEvidence) {
  LinkSpeeds links;
  links.set(0, {{"a", "b", 1000, 0.5}});
  EXPECT_FALSE(links.verdict()) << "a few bytes tell nothing about a link";
  links.set(0, {{"a", "b", 1e9, 10}, {"a", "c", 1e9, 11}});
  links.set(1, {{"b", "a", 1e9, 9}, {"b", "c", 1e9, 12}});
  ASSERT_TRUE(links.verdict());
  EXPECT_TRUE(links.verdict()->workers.empty()) << "all are as slow";
}

}  // namespace
}  // namespace trireme::train
