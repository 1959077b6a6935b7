// ParameterSpace: where parameters lie, and a hash that sees values but not layouts.
#include "tensor/parameter_space.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/hash.h"
#include "support/core_errors.h"

namespace trireme::tensor {
namespace {

using Entry = ParameterSpace::Entry;

Entry entry(const std::string& name, const Shape& shape, ParameterKind kind = ParameterKind::trained) {
  return {name, kind, shape, Layout::plain(shape)};
}

std::vector<Entry> five() {
  return {entry("conv.weight", {5, 3, 3, 3}), entry("bn.weight", {5}),
          entry("bn.running_mean", {5}, ParameterKind::statistic),
          entry("bn.running_var", {5}, ParameterKind::statistic), entry("fc.weight", {10, 17})};
}

TEST(ParameterSpace, ReverseOrderOnLinesStatisticsBehind) {
  const ParameterSpace space(five());
  ASSERT_EQ(space.size(), 5);
  // 170 floats take 176, 5 take 16, 135 take 144.
  EXPECT_EQ(space.range(4).offset, 0);
  EXPECT_EQ(space.range(1).offset, 176);
  EXPECT_EQ(space.range(0).offset, 192);
  EXPECT_EQ(space.trained_floats(), 336);
  EXPECT_EQ(space.range(3).offset, 336);
  EXPECT_EQ(space.range(2).offset, 352);
  EXPECT_EQ(space.floats(), 368);
  EXPECT_EQ(std::vector<int>(space.memory_order().begin(), space.memory_order().end()),
            (std::vector<int>{4, 1, 0, 3, 2}));
}

TEST(ParameterSpace, RangesAreDisjointAndAligned) {
  std::vector<Entry> entries;
  for (int i = 1; i <= 70; ++i)
    entries.push_back(
        entry("p" + std::to_string(i), {i}, i % 3 == 0 ? ParameterKind::statistic : ParameterKind::trained));
  const ParameterSpace space(entries);
  std::int64_t next = 0;
  for (const int p : space.memory_order()) {
    const ParameterRange& range = space.range(p);
    EXPECT_EQ(range.offset % 16, 0);
    EXPECT_GE(range.offset, next);
    EXPECT_LT(range.offset - next, 16);
    next = range.offset + range.floats();
    EXPECT_EQ(range.kind == ParameterKind::trained, range.offset < space.trained_floats());
  }
  EXPECT_LE(next, space.floats());
}

TEST(ParameterSpace, Names) {
  const ParameterSpace space(five());
  EXPECT_EQ(space.find("bn.running_var"), 3);
  EXPECT_EQ(space.find("bn"), -1);
  EXPECT_EQ(space.find(""), -1);
  std::vector<Entry> twice = five();
  twice.push_back(entry("bn.weight", {2}));
  const std::string text = support::sentence(base::ErrorKind::internal, [&] { ParameterSpace{twice}; });
  EXPECT_TRUE(support::contains(text, "bn.weight")) << text;
}

TEST(ParameterSpace, ShapeAndLayoutMustAgree) {
  support::sentence(base::ErrorKind::internal, [] {
    ParameterSpace({{"w", ParameterKind::trained, {4, 5}, Layout::plain({4, 4})}});
  });
  // Grouped weights have one size more, with as many elements.
  const ParameterSpace grouped({{"w", ParameterKind::trained, {8, 2, 3, 3}, Layout::plain({2, 4, 2, 3, 3})}});
  EXPECT_EQ(grouped.range(0).count(), 144);
}

TEST(ParameterSpace, Empty) {
  const ParameterSpace space(std::vector<Entry>{});
  EXPECT_EQ(space.floats(), 0);
  EXPECT_EQ(space.sha256(nullptr), base::sha256_hex({}));
}

// The canonical values of `five()` in a buffer over the space.
std::vector<float> filled(const ParameterSpace& space, float padding) {
  std::vector<float> buffer(static_cast<std::size_t>(space.floats()), padding);
  for (const ParameterRange& range : space.ranges()) {
    std::vector<float> plain(static_cast<std::size_t>(range.count()));
    std::iota(plain.begin(), plain.end(), static_cast<float>(range.name.size()));
    from_plain(range.layout, plain.data(), buffer.data() + range.offset);
  }
  return buffer;
}

TEST(ParameterSpace, HashIsOverTheCanonicalForm) {
  const ParameterSpace plain(five());
  std::vector<Entry> other = five();
  other[0].layout = Layout::channels_blocked({5, 3, 3, 3}, 16);
  const ParameterSpace blocked(other);
  other[0].layout = Layout::channels_last({5, 3, 3, 3});
  const ParameterSpace last(other);
  const std::string hash = plain.sha256(filled(plain, 0).data());
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_NE(blocked.floats(), plain.floats());
  EXPECT_EQ(blocked.sha256(filled(blocked, 0).data()), hash);
  EXPECT_EQ(last.sha256(filled(last, 0).data()), hash);
  EXPECT_EQ(plain.sha256(filled(plain, 9).data()), hash) << "padding is not hashed";
}

TEST(ParameterSpace, HashSeesEveryValueNameAndShape) {
  const ParameterSpace space(five());
  std::vector<float> buffer = filled(space, 0);
  const std::string hash = space.sha256(buffer.data());
  for (const ParameterRange& range : space.ranges())
    for (const std::int64_t i : {std::int64_t{0}, range.floats() - 1}) {
      float& value = buffer[static_cast<std::size_t>(range.offset + i)];
      const float before = value;
      value += 1;
      EXPECT_NE(space.sha256(buffer.data()), hash) << range.name;
      value = before;
    }
  EXPECT_EQ(space.sha256(buffer.data()), hash);
  std::vector<Entry> renamed = five();
  renamed[4].name = "fc.weights";
  EXPECT_NE(ParameterSpace(renamed).sha256(buffer.data()), hash);
  std::vector<Entry> reshaped = five();
  reshaped[4] = entry("fc.weight", {17, 10});
  EXPECT_NE(ParameterSpace(reshaped).sha256(buffer.data()), hash);
}

}  // namespace
}  // namespace trireme::tensor
