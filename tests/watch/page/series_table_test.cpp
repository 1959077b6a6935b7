#include "watch/page/feed/series_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trireme::watch {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(series_table, thins_out_and_keeps_means_and_ends) {
  SeriesTable table({{"step", Joining::last}, {"loss", Joining::mean}}, 8);
  for (int step = 1; step <= 7; ++step) table.add({double(step), double(step)});
  EXPECT_EQ(table.rows(), 7u);
  EXPECT_EQ(table.every(), 1);
  const std::uint64_t before = table.generation();
  table.add({8, 8});
  EXPECT_NE(table.generation(), before);
  ASSERT_EQ(table.rows(), 4u);
  EXPECT_EQ(table.every(), 2);
  EXPECT_EQ(table.at(0, 0), 2);
  EXPECT_EQ(table.at(0, 1), 1.5);
  table.add({9, 9});
  EXPECT_EQ(table.rows(), 4u) << "half a row";
  table.add({10, 10});
  EXPECT_EQ(table.at(4, 0), 10);
  EXPECT_EQ(table.at(4, 1), 9.5);
}

TEST(series_table, a_million_rows_stay_few_with_the_mean_of_all) {
  SeriesTable table({{"step", Joining::last}, {"value", Joining::mean}}, 1024);
  for (int step = 1; step <= 1 << 20; ++step) table.add({double(step), double(step % 2)});
  EXPECT_LT(table.rows(), 1024u);
  EXPECT_GE(table.rows(), 512u);
  for (std::size_t row = 0; row < table.rows(); ++row) EXPECT_EQ(table.at(row, 1), 0.5);
  EXPECT_EQ(table.at(table.rows() - 1, 0), 1 << 20);
}

TEST(series_table, rows_as_json) {
  SeriesTable table({{"step", Joining::last}, {"value", Joining::mean}});
  EXPECT_EQ(table.json_from(0), "[]");
  table.add({1, 0.5});
  table.add({2e9, kNan});
  EXPECT_EQ(table.json_from(0), "[[1,0.5],[2000000000,null]]");
  EXPECT_EQ(table.json_from(1), "[[2000000000,null]]");
  table.add({3, 1});
  EXPECT_EQ(table.json_from(1), "[[2000000000,null],[3,1]]");
  table.clear();
  table.add({4, 1});
  EXPECT_EQ(table.json_from(0), "[[4,1]]");
}

TEST(series_table, numbers_that_do_not_exist_do_not_count) {
  SeriesTable table({{"step", Joining::last}, {"value", Joining::mean}}, 4);
  table.add({1, kNan});
  table.add({2, 4});
  table.add({3, kNan});
  table.add({4});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.at(0, 1), 4);
  EXPECT_TRUE(std::isnan(table.at(1, 1)));
}

}  // namespace
}  // namespace trireme::watch
