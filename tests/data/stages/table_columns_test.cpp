// Tables: every column is normalised by its own mean and deviation; images and spectra by those of their channels.
#include <gtest/gtest.h>

#include <cmath>

#include "data/helpers.h"
#include "data/readers/packed.h"
#include "data/readers/table/csv.h"
#include "data/stages/prepare.h"
#include "data/stages/subset.h"

namespace trireme::data {
namespace {

constexpr int kRows = 40;

// Columns: 0 to 39, a constant, and 0 to 4 (times `scale`); then the class.
std::string table_text(double scale = 1) {
  std::string text;
  for (int i = 0; i < kRows; ++i) text += fmt::format("{},7,{},{}\n", i, scale * (i % 5), i % 2);
  return text;
}

DataPair table(const std::string& text, std::vector<tensor::Shape> wanted = {}) {
  DataRequest request;
  request.wanted_inputs = std::move(wanted);
  return read_table(Bytes(text.begin(), text.end()), "file.csv", request);
}

TEST(TableColumns, HaveTheirOwnMeanAndDeviation) {
  const DatasetPtr train = table(table_text()).train;
  const Normalization n = compute_normalization(train, "standard");
  ASSERT_EQ(n.inputs.size(), 1u);
  ASSERT_EQ(n.inputs[0].mean.size(), 3u);
  const auto samples = static_cast<double>(train->size());
  for (std::size_t column = 0; column < 3; ++column) {
    double sum = 0, square = 0;
    for (std::int64_t i = 0; i < train->size(); ++i) sum += double(fetch_sample(*train, i).inputs[0][column]);
    const double mean = sum / samples;
    for (std::int64_t i = 0; i < train->size(); ++i) {
      const double from_mean = double(fetch_sample(*train, i).inputs[0][column]) - mean;
      square += from_mean * from_mean;
    }
    EXPECT_NEAR(n.inputs[0].mean[column], mean, 1e-5) << column;
    EXPECT_NEAR(n.inputs[0].divisor[column], column == 1 ? 1 : std::sqrt(square / samples), 1e-5) << column;
  }
  const Sample first = fetch_sample(*normalize(train, n), 0);
  EXPECT_EQ(first.inputs[0][1], 0) << "a constant column";
}

TEST(TableColumns, AreTheSameAfterAChangeOfUnits) {
  const DatasetPtr metres = table(table_text()).train, other = table(table_text(50000)).train;
  const DatasetPtr a = normalize(metres, compute_normalization(metres, "standard")),
                   b = normalize(other, compute_normalization(other, "standard"));
  for (std::int64_t i = 0; i < a->size(); ++i)
    for (std::size_t column = 0; column < 3; ++column)
      EXPECT_NEAR(fetch_sample(*a, i).inputs[0][column], fetch_sample(*b, i).inputs[0][column], 1e-5);
}

TEST(TableColumns, AreKnownInSubsetsAndPackedFiles) {
  const DataPair pair = table(table_text());
  EXPECT_EQ(compute_normalization(limit(pair.train, 9), "standard").inputs[0].mean.size(), 3u);
  const TempFolder folder;
  write_packed(folder.path() / "t.trireme", pair);
  const DataPair packed = open_packed(folder.path() / "t.trireme");
  EXPECT_TRUE(packed.train->spec().table);
  const Normalization known = compute_normalization(packed.train, "standard"),
                      here = compute_normalization(pair.train, "standard");
  EXPECT_EQ(known.inputs[0].mean, here.inputs[0].mean);
  EXPECT_EQ(known.inputs[0].divisor, here.inputs[0].divisor);
  EXPECT_EQ(compute_normalization(limit(packed.train, 9), "standard").inputs[0].mean.size(), 3u);
}

// The network takes images of as many values: rows of pixels are images.
TEST(TableColumns, AreNotTheRowsOfAnImage) {
  const DatasetPtr train = table(table_text(), {{1, 1, 3}}).train;
  EXPECT_FALSE(train->spec().table);
  EXPECT_EQ(compute_normalization(train, "standard").inputs[0].mean.size(), 1u);
}

}  // namespace
}  // namespace trireme::data
