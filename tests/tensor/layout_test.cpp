// Layouts against brute force: the position of every element from the definition, and copies there and back.
#include "tensor/layout.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace trireme::tensor {
namespace {

using Index = std::vector<std::int64_t>;

std::vector<Index> indices_of(const Shape& shape) {
  std::vector<Index> all{{}};
  for (int d = 0; d < shape.rank(); ++d) {
    std::vector<Index> longer;
    for (const Index& index : all)
      for (std::int64_t i = 0; i < shape[d]; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    all = std::move(longer);
  }
  return all;
}

void expect_positions(const Layout& layout, const std::function<std::int64_t(const Index&)>& position) {
  std::set<std::int64_t> taken;
  for (const Index& index : indices_of(layout.shape)) {
    const std::int64_t offset = layout.offset(index);
    ASSERT_EQ(offset, position(index)) << layout.shape.text() << " " << layout.text();
    ASSERT_TRUE(taken.insert(offset).second) << "two elements at one place";
    ASSERT_LT(offset, layout.elements());
  }
}

TEST(Layout, PlainIsRowMajor) {
  const Layout layout = Layout::plain({2, 3, 4, 5});
  EXPECT_TRUE(layout.is_plain());
  EXPECT_FALSE(layout.has_padding());
  EXPECT_EQ(layout.elements(), 120);
  EXPECT_EQ(layout.text(), "plain");
  EXPECT_EQ(layout.channel_block(), 1);
  expect_positions(layout, [](const Index& i) { return ((i[0] * 3 + i[1]) * 4 + i[2]) * 5 + i[3]; });
}

TEST(Layout, RowsOfChannelsWithRoomBehindThem) {
  for (const std::int64_t row : {0, 5, 7, 16}) {
    const Layout layout = Layout::channels_last({2, 5, 3, 4}, row);
    const std::int64_t distance = std::max<std::int64_t>(row, 5);
    EXPECT_EQ(layout.channel_row(), distance);
    EXPECT_EQ(layout.elements(), 24 * distance);
    EXPECT_EQ(layout == Layout::channels_last({2, 5, 3, 4}), distance == 5);
    EXPECT_EQ(layout.channel_block(), distance == 5 ? 5 : 0) << "ops that know no room must not take it";
    EXPECT_FALSE(layout.has_padding());
    expect_positions(layout, [&](const Index& i) { return ((i[0] * 3 + i[2]) * 4 + i[3]) * distance + i[1]; });
  }
  EXPECT_EQ(Layout::plain({2, 5, 3, 4}).channel_row(), 0);
  EXPECT_EQ(Layout::channels_blocked({2, 16, 3, 4}, 16).channel_row(), 0);
  EXPECT_EQ(Layout::plain({2, 5}).channel_row(), 0);
}

TEST(Layout, ChannelsInBlocks) {
  for (const std::int64_t channels : {1, 5, 8, 16, 17, 32})
    for (const std::int64_t block : {2, 8, 16}) {
      const Layout layout = Layout::channels_blocked({2, channels, 3, 4}, block);
      const std::int64_t blocks = (channels + block - 1) / block;
      EXPECT_EQ(layout.elements(), 2 * blocks * block * 12);
      EXPECT_EQ(layout.has_padding(), channels % block != 0);
      EXPECT_EQ(layout.padded, (Shape{2, blocks * block, 3, 4}));
      EXPECT_EQ(layout.channel_block(), block);
      EXPECT_FALSE(layout.is_plain());
      expect_positions(layout, [&](const Index& i) {
        return (((i[0] * blocks + i[1] / block) * 3 + i[2]) * 4 + i[3]) * block + i[1] % block;
      });
    }
  EXPECT_TRUE(Layout::channels_blocked({2, 3, 4}, 1).is_plain());
}

TEST(Layout, ChannelsLast) {
  const Layout layout = Layout::channels_last({2, 3, 4, 5});
  EXPECT_EQ(layout.channel_block(), 3);
  EXPECT_EQ(layout.text(), "channels-last");
  expect_positions(layout, [](const Index& i) { return ((i[0] * 4 + i[2]) * 5 + i[3]) * 3 + i[1]; });
  expect_positions(Layout::channels_last({2, 3, 7}), [](const Index& i) { return (i[0] * 7 + i[2]) * 3 + i[1]; });
  EXPECT_TRUE(Layout::channels_last({2, 3}).is_plain());
}

// OIhw4i8o4i: two blocks of one dimension around one of another, as oneDNN stores weights.
Layout several_blocks() {
  return {{11, 21, 2, 3}, {16, 32, 2, 3}, {2 * 6 * 128, 6 * 128, 3 * 128, 128}, {{1, 4}, {0, 8}, {1, 4}}};
}

TEST(Layout, SeveralInnerBlocks) {
  const Layout layout = several_blocks();
  const std::int64_t o_blocks = 2, i_blocks = 2;  // of 8 and of 4 * 4
  EXPECT_EQ(layout.elements(), o_blocks * i_blocks * 6 * 128);
  EXPECT_EQ(layout.channel_block(), 0);
  EXPECT_EQ(layout.text(), "blocked:1x4:0x8:1x4");
  expect_positions(layout, [&](const Index& i) {
    const std::int64_t block = ((i[0] / 8 * i_blocks + i[1] / 16) * 2 + i[2]) * 3 + i[3];
    return block * 128 + (i[1] % 16 / 4) * 32 + (i[0] % 8) * 4 + i[1] % 4;
  });
}

std::vector<Layout> layouts_of(const Shape& shape) {
  std::vector<Layout> all{Layout::plain(shape)};
  if (shape.rank() >= 2) {
    for (const std::int64_t block : {2, 4, 8}) all.push_back(Layout::channels_blocked(shape, block));
    all.push_back(Layout::channels_last(shape));
  }
  return all;
}

TEST(Layout, SameMemoryMeansTheSamePlaces) {
  int alike = 0, compared = 0;
  for (const std::int64_t n : {1, 2})
    for (const std::int64_t c : {1, 2, 4, 8})
      for (const std::int64_t h : {1, 3})
        for (const std::int64_t w : {1, 3})
          for (const Shape& shape : {Shape{n, c, h, w}, Shape{n, c, w}, Shape{n, c}})
            for (const Layout& a : layouts_of(shape))
              for (const Layout& b : layouts_of(shape)) {
                bool same = a.elements() == b.elements();
                for (const Index& index : indices_of(shape)) same = same && a.offset(index) == b.offset(index);
                ASSERT_EQ(same_memory(a, b), same) << shape.text() << " " << a.text() << " and " << b.text();
                alike += same && !(a == b) ? 1 : 0;
                ++compared;
              }
  EXPECT_GT(alike, 100);
  EXPECT_GT(compared, 10 * 100);
}

TEST(Layout, SameMemoryByHand) {
  const Shape pixel{4, 16, 1, 1};
  EXPECT_TRUE(same_memory(Layout::plain(pixel), Layout::channels_last(pixel)));
  EXPECT_TRUE(same_memory(Layout::plain(pixel), Layout::channels_blocked(pixel, 16)));
  EXPECT_TRUE(same_memory(Layout::channels_last({2, 16, 5, 5}), Layout::channels_blocked({2, 16, 5, 5}, 16)));
  EXPECT_FALSE(same_memory(Layout::plain({2, 16, 5, 5}), Layout::channels_blocked({2, 16, 5, 5}, 16)));
  EXPECT_FALSE(same_memory(Layout::plain({4, 3, 1, 1}), Layout::channels_blocked({4, 3, 1, 1}, 16)));  // padding
  EXPECT_TRUE(same_memory(Layout::plain({3, 1, 5, 5}), Layout::channels_last({3, 1, 5, 5})));
  EXPECT_FALSE(same_memory(Layout::plain({2, 3}), Layout::plain({3, 2})));
}

TEST(Layout, ThereAndBack) {
  for (const Shape& shape :
       {Shape{3, 5, 2, 3}, Shape{1, 8, 1, 7}, Shape{2, 3, 4}, Shape{7, 10}, Shape{5}, Shape{11, 21, 2, 3}, Shape{}}) {
    std::vector<float> plain(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<float>(i + 1);
    std::vector<Layout> layouts = layouts_of(shape);
    if (shape == several_blocks().shape) layouts.push_back(several_blocks());
    for (const Layout& layout : layouts) {
      std::vector<float> memory(static_cast<std::size_t>(layout.elements()), -1.0f), back(plain.size());
      from_plain(layout, plain.data(), memory.data());
      std::size_t zeros = 0;
      for (const float x : memory) {
        ASSERT_GE(x, 0.0f) << "not written";
        zeros += x == 0 ? 1 : 0;
      }
      EXPECT_EQ(zeros, memory.size() - plain.size()) << "padding is zero";
      std::size_t position = 0;
      for (const Index& index : indices_of(shape))
        ASSERT_EQ(memory[static_cast<std::size_t>(layout.offset(index))], plain[position++]);
      to_plain(layout, memory.data(), back.data());
      EXPECT_EQ(back, plain) << shape.text() << " " << layout.text();
    }
  }
}

TEST(Layout, NothingToCopy) {
  float untouched = 7;
  for (const Layout& layout : layouts_of({3, 0, 4})) {
    from_plain(layout, nullptr, &untouched);
    to_plain(layout, nullptr, &untouched);
  }
  EXPECT_EQ(untouched, 7);
}

}  // namespace
}  // namespace trireme::tensor
