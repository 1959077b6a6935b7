// Rows of channels with room behind them: concats that only add to what lies there, and the op that reads such rows and
// adds to their gradient.
#include <gtest/gtest.h>

#include "ops/cases/kernel_run.h"
#include "ops/conv/conv.h"
#include "ops/conv/norm_conv/norm_conv.h"
#include "ops/merge/merge.h"

namespace trireme::optest {
namespace {

using tensor::Layout;

OpCase concat(const std::vector<Shape>& shapes) { return {.op = ops::concat(), .shapes = shapes}; }

std::vector<Layout> rows(const std::vector<Shape>& shapes, std::int64_t first_row) {
  std::vector<Layout> all;
  for (const Shape& shape : shapes) all.push_back(Layout::channels_last(shape, all.empty() ? first_row : 0));
  return all;
}

TEST(Rows, ConcatLeavesRoomAndUsesIt) {
  const OpCase c = concat({{2, 5, 3, 4}, {2, 7, 3, 4}, {2, 1, 3, 4}});
  const CaseData data = make_data(c, true);
  const std::vector<float> expected(data.exact.dst.begin(), data.exact.dst.end());
  for (const std::int64_t first_row : {5, 13, 29})
    for (const std::int64_t room : {0, 13, 29})
      for (const bool in_place : {false, true}) {
        const KernelResult got =
            run_kernel(c, data, {.offered = rows(c.shapes, first_row), .in_place = in_place, .room = room});
        EXPECT_EQ(got.dst, expected) << first_row << " " << room;
        for (std::size_t s = 0; s < 3; ++s)
          EXPECT_EQ(got.diff_src[s], (std::vector<float>(data.exact.diff_src[s].begin(), data.exact.diff_src[s].end())))
              << s;
      }
}

TEST(Rows, ConcatSaysWhereItsOutputLies) {
  const OpCase c = concat({{2, 5, 3, 4}, {2, 7, 3, 4}});
  ops::KernelRequest request;
  request.src = rows(c.shapes, 20);
  request.diff_src = {true, true};
  EXPECT_TRUE(c.op->compile(request)->plan().dst_holds_src);
  EXPECT_EQ(c.op->compile(request)->plan().dst.channel_row(), 20);
  request.src = rows(c.shapes, 0);
  request.room = 30;
  EXPECT_FALSE(c.op->compile(request)->plan().dst_holds_src);
  EXPECT_EQ(c.op->compile(request)->plan().dst.channel_row(), 30);
  request.src = {Layout::plain(c.shapes[0]), Layout::plain(c.shapes[1])};
  EXPECT_TRUE(c.op->compile(request)->plan().dst_holds_src) << "what is reordered anyway goes to its place at once";
  EXPECT_EQ(c.op->compile(request)->plan().src[0].channel_row(), 30);
  request.room = 0;
  EXPECT_TRUE(c.op->compile(request)->plan().dst.is_plain()) << "planes have no rows";
}

// Twelve channels in a block of sixteen are rows of sixteen.
TEST(Rows, ConcatTakesOneBlockAsItLies) {
  const OpCase c = concat({{2, 5, 3, 4}, {2, 12, 3, 4}, {2, 16, 3, 4}});
  const CaseData data = make_data(c, true);
  std::vector<Layout> offered = rows(c.shapes, 40);
  offered[1] = Layout::channels_blocked(c.shapes[1], 16);
  offered[2] = Layout::channels_blocked(c.shapes[2], 16);
  ops::KernelRequest request;
  request.src = offered;
  request.diff_src = {true, true, true};
  EXPECT_EQ(c.op->compile(request)->plan().src, offered);
  const KernelResult got = run_kernel(c, data, {.offered = offered, .in_place = true});
  EXPECT_EQ(got.dst, (std::vector<float>(data.exact.dst.begin(), data.exact.dst.end())));
  for (std::size_t s = 0; s < 3; ++s)
    EXPECT_EQ(got.diff_src[s], (std::vector<float>(data.exact.diff_src[s].begin(), data.exact.diff_src[s].end()))) << s;
}

TEST(Rows, NormWithConvolutionReadsThem) {
  const OpCase c{.op = ops::norm_conv({.relu = true}, ops::conv({.channels = 12, .kernel = {1, 1}, .bias = false})),
                 .shapes = {{3, 21, 5, 3}},
                 .values = {Values::shifted}};
  EXPECT_TRUE(c.op->reads_rows());
  const CaseData data = make_data(c, true);
  const KernelResult dense = run_kernel(c, data, {.offered = rows(c.shapes, 0)});
  for (const std::int64_t row : {22, 32, 50})
    expect_same_bits("rows of " + std::to_string(row), dense, run_kernel(c, data, {.offered = rows(c.shapes, row)}));
}

// What an earlier kernel knows of the first channels is what this one would have found.
TEST(Rows, NormWithConvolutionTakesKnownStatistics) {
  const auto op = [](std::int64_t channels) {
    return ops::norm_conv({.relu = true}, ops::conv({.channels = channels, .kernel = {1, 1}, .bias = false}));
  };
  const OpCase wide{.op = op(16), .shapes = {{3, 29, 4, 5}}, .values = {Values::shifted}};
  const CaseData data = make_data(wide, true);
  const KernelSetup setup{.offered = rows(wide.shapes, 40)};
  const KernelResult alone = run_kernel(wide, data, setup);
  for (const std::int64_t channels : {1, 13, 29}) {
    OpCase narrow{.op = op(3), .shapes = {{3, channels, 4, 5}}, .values = {Values::shifted}};
    CaseData first = make_data(narrow, true);  // with the numbers of the wide one's first channels
    for (std::int64_t n = 0; n < 3; ++n)
      std::copy_n(data.exact.src[0].begin() + n * 29 * 20, channels * 20,
                  first.exact.src[0].begin() + n * channels * 20);
    const KernelResult earlier = run_kernel(narrow, first, {.offered = rows(narrow.shapes, 40)});
    ASSERT_FALSE(earlier.workspace.empty());
    KernelSetup with = setup;
    with.known = earlier.workspace.data();
    with.known_channels = channels;
    expect_same_bits(std::to_string(channels) + " known", alone, run_kernel(wide, data, with));
  }
}

TEST(Rows, NormWithConvolutionAddsToTheGradient) {
  const OpCase c{.op = ops::norm_conv({.relu = true}, ops::conv({.channels = 3, .kernel = {1, 1}, .bias = false})),
                 .shapes = {{2, 19, 3, 3}},
                 .values = {Values::shifted}};
  const CaseData data = make_data(c, true);
  const KernelResult alone = run_kernel(c, data, {.offered = rows(c.shapes, 0)});
  const KernelResult added = run_kernel(c, data, {.offered = rows(c.shapes, 24), .add_to = 0.5f});
  ASSERT_EQ(added.diff_src[0].size(), alone.diff_src[0].size());
  for (std::size_t i = 0; i < alone.diff_src[0].size(); ++i)
    ASSERT_EQ(added.diff_src[0][i], 0.5f + alone.diff_src[0][i]) << i;
}

}  // namespace
}  // namespace trireme::optest
