// Descriptions of tables, column by column.
#include "data/readers/table/table_summary.h"

#include "data/helpers.h"

namespace trireme::data {
namespace {

using Kind = ColumnSummary::Kind;

TableSummary describe(const std::string& text) {
  const Bytes bytes(text.begin(), text.end());
  const std::span<const std::uint8_t> span(bytes);
  const CodecRegistry codecs = builtin_codecs();
  return describe_table(TableFile{codecs, "file.csv", &span});
}

TEST(TableSummary, CountsNumbersWordsAndMissingValues) {
  const TableSummary table = describe("a;b;c;d;e\n1;red;x;?;1\n-3.5;;4;?;2\n-;red;x;?;3\n");
  EXPECT_EQ(table.separator, ';');
  EXPECT_TRUE(table.has_header);
  EXPECT_EQ(table.rows, 3);
  ASSERT_EQ(table.columns.size(), 5u);
  const ColumnSummary& a = table.columns[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.kind(), Kind::numbers);
  EXPECT_EQ(a.numbers.fields, 2);
  EXPECT_EQ(a.missing.fields, 1);
  EXPECT_EQ(a.missing.line, 4);
  EXPECT_EQ(a.min, -3.5);
  EXPECT_EQ(a.max, 1);
  EXPECT_EQ(a.mean(), -1.25);
  EXPECT_FALSE(a.is_whole);
  EXPECT_EQ(table.columns[1].kind(), Kind::words);
  EXPECT_EQ(table.columns[1].counts.at("red"), 2);
  EXPECT_EQ(table.columns[1].missing.line, 3);
  EXPECT_EQ(table.columns[2].kind(), Kind::mixed);
  EXPECT_EQ(table.columns[2].numbers.line, 3);
  EXPECT_EQ(table.columns[3].kind(), Kind::empty);
  EXPECT_EQ(table.columns[4].counts.size(), 3u);
}

TEST(TableSummary, DescribesWhatTrainingRefuses) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += fmt::format("id {},{},-\n", i, i % 3);
  const TableSummary table = describe(text);
  EXPECT_FALSE(table.has_header);
  EXPECT_TRUE(table.columns[0].has_many);
  EXPECT_EQ(table.columns[0].words.fields, 1500);
  EXPECT_EQ(table.columns[1].counts.at("2"), 500);
  EXPECT_EQ(table.columns[2].kind(), Kind::words) << "a column of dashes";
}

TEST(TableSummary, ReadsPackedFiles) {
  const TempFolder folder;
  const std::string text = "a,b\n1,2\n";
  write_bytes(folder.path() / "t.csv.gz", pack_gz(Bytes(text.begin(), text.end())));
  EXPECT_EQ(describe_table(folder.path() / "t.csv.gz").rows, 1);
}

}  // namespace
}  // namespace trireme::data
