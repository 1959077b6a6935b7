// Records of text tables: quotes as in RFC 4180, comments, separators.
#include "data/readers/table/csv_records.h"

#include "data/helpers.h"

namespace trireme::data {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records records_of(const std::string& text) {
  const Bytes bytes(text.begin(), text.end());
  const CodecRegistry codecs = builtin_codecs();
  UnpackedReader reader(codecs, bytes, "file.csv");
  CsvRecords records(reader);
  Records all;
  for (CsvFields fields; records.next(fields);) all.emplace_back(fields.begin(), fields.end());
  return all;
}

TEST(CsvRecords, SeparatorsAndLineEndsInQuotesBelongToTheField) {
  EXPECT_EQ(records_of("\"a,b\",\"c\nd\",e\r\nf,\"g\r\n\r\nh\",i\n"),
            (Records{{"a,b", "c\nd", "e"}, {"f", "g\r\n\r\nh", "i"}}));
  EXPECT_EQ(records_of("\"a;b\";c\n"), (Records{{"a;b", "c"}}));
  EXPECT_EQ(records_of("\"a b\" c\n"), (Records{{"a b", "c"}}));
  EXPECT_EQ(records_of("\"a\tb\"\tc\n"), (Records{{"a\tb", "c"}}));
}

TEST(CsvRecords, TwoQuotesAreOne) {
  EXPECT_EQ(records_of("\"say \"\"hi\"\"\",\"\"\"\",\"\"\n"), (Records{{"say \"hi\"", "\"", ""}}));
  EXPECT_EQ(records_of("5\" disk,it's,'quoted'\n"), (Records{{"5\" disk", "it's", "quoted"}}));
}

TEST(CsvRecords, CommentsBeginOutsideOfQuotes) {
  EXPECT_EQ(records_of("\"#1\",a # \"no\n#\"\nb,\"c\"#d\n"), (Records{{"#1", "a"}, {"b", "c"}}));
  EXPECT_EQ(records_of("\"a\n#b\",c\n"), (Records{{"a\n#b", "c"}}));
}

TEST(CsvRecords, KnowTheLineThatTheyBeginOn) {
  const std::string text = "\n# note\n\"a\n\nb\",c\nd,e\n";
  const Bytes bytes(text.begin(), text.end());
  const CodecRegistry codecs = builtin_codecs();
  UnpackedReader reader(codecs, bytes, "file.csv");
  CsvRecords records(reader);
  CsvFields fields;
  ASSERT_TRUE(records.next(fields));
  EXPECT_EQ(records.line(), 3);
  ASSERT_TRUE(records.next(fields));
  EXPECT_EQ(records.line(), 6);
  EXPECT_FALSE(records.next(fields));
}

TEST(CsvRecords, QuotedFieldsMayCrossThePiecesOfAFile) {
  const std::string longest(200'000, 'x'), lines = longest + "\n" + longest;
  EXPECT_EQ(records_of("a,\"" + lines + "\"\nb,c\n"), (Records{{"a", lines}, {"b", "c"}}));
}

TEST(CsvRecords, AnOpenQuoteIsRefused) {
  expect_user_error([] { records_of("a,b\nc,\"d\ne,f\n"); }, {"file.csv", "line 2", "not closed"});
  expect_user_error([] { records_of("\"a\"b,c\n"); }, {"line 1", "column 1", "closing quote"});
  expect_user_error([] { records_of("a,\"" + std::string(20'000'000, '\n')); }, {"line 1", "longer", "not closed"});
}

}  // namespace
}  // namespace trireme::data
