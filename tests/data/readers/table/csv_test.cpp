// Text tables: separators, headers, classes, values, test files beside training files, and what is refused.
#include "data/readers/table/csv.h"

#include <algorithm>
#include <cstdlib>

#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "data/open_data.h"

namespace trireme::data {
namespace {

Bytes bytes_of(const std::string& text) { return Bytes(text.begin(), text.end()); }

DataRequest wanting(TargetKind target, std::vector<tensor::Shape> inputs = {}) {
  DataRequest request;
  request.wanted_target = target;
  request.wanted_inputs = std::move(inputs);
  return request;
}

DataPair read(const std::string& text, const DataRequest& request = {}) {
  return read_table(bytes_of(text), "file.csv", request);
}

// All samples in the file's order; the parts are subsets in that order, put together again by their first value.
std::vector<Sample> samples_of(const DataPair& pair) {
  std::vector<Sample> samples;
  for (const DatasetPtr& part : {pair.train, pair.test})
    for (std::int64_t i = 0; i < part->size(); ++i) samples.push_back(fetch_sample(*part, i));
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.inputs < b.inputs; });
  return samples;
}

void refused(const std::string& text, const std::vector<std::string>& parts, const DataRequest& request = {}) {
  std::vector<std::string> all = parts;
  all.emplace_back("file.csv");
  expect_user_error([&] { read(text, request); }, all);
}

TEST(Table, ReadsEverySeparatorAndLineEnd) {
  for (const std::string text : {
           "1,2,0\n3,4,1\n5,6,0\n",
           "1;2;0\n3;4;1\n5;6;0",
           "1\t2\t0\n3\t4\t1\n5\t6\t0\n",
           "1 2 0\n3 4 1\n5 6 0\n",
           "  1   2 0  \r\n 3 4\t  1\r\n5 6 0\r\n",
           " 1 , 2 , 0\n\n\r\n3,4,1 \n   \n5,6,0\n\n",
           "# a comment\n1,2,0 # more\n#\n3,4,1\n5,6,0\n#end",
           "\xef\xbb\xbf"
           "1,2,0\n3,4,1\n5,6,0\n",
           "a,b,c\n1,2,0\n3,4,1\n5,6,0\n",
           "\"first one\";\"b\";\"c\"\n\"1\";\"2\";\"0\"\n3;4;1\n5;6;0\n",
           "+1,2.0,0\n3e0,4,1.0\n0.5e1,6,00\n",
       }) {
    const DataPair pair = read(text);
    EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{1, 2}})) << text;
    EXPECT_EQ(pair.train->spec().class_names, (std::vector<std::string>{"0", "1"})) << text;
    const auto samples = samples_of(pair);
    ASSERT_EQ(samples.size(), 3u) << text;
    EXPECT_EQ(samples[1].inputs[0], (std::vector<float>{3, 4})) << text;
    EXPECT_EQ(samples[1].target, std::vector<float>{1}) << text;
  }
}

TEST(Table, WholeNumbersStayBytesAndAllElseBecomesFloats) {
  const TempFolder folder;
  const auto type_of = [&](const std::string& text) {
    write_bytes(folder.path() / "train.csv", bytes_of(text));
    write_bytes(folder.path() / "test.csv", bytes_of("1,2,0\n"));
    DataRequest request;
    request.name = (folder.path() / "train.csv").string();
    return open_dataset(request).train->columns()->inputs[0].type;
  };
  EXPECT_EQ(type_of("0,255,0\n3,4,1\n"), ValueType::byte);
  for (const char* text : {"1,2,0\n3,256,1\n", "1,2,0\n-1,2,1\n", "1,2,0\n3,4.5,1\n", "1,2,0\n3,-0.0,1\n"})
    EXPECT_EQ(type_of(text), ValueType::real) << text;
  const auto samples = samples_of(read("1,2,0\n3,4,1\n5,0.25,1\n7,-1e-3,1\n"));
  EXPECT_EQ(samples[0].inputs[0], (std::vector<float>{1, 2}));
  EXPECT_EQ(samples[2].inputs[0], (std::vector<float>{5, 0.25f}));
  EXPECT_EQ(samples[3].inputs[0], (std::vector<float>{7, -1e-3f}));
}

TEST(Table, ClassesAreSortedNumbersOrWords) {
  EXPECT_EQ(read("1,10\n2,7\n3,-2\n4,7\n").train->spec().class_names, (std::vector<std::string>{"-2", "7", "10"}));
  const DataPair words = read("1,setosa\n2,virginica\n3,\"versicolor\"\n");
  EXPECT_EQ(words.train->spec().class_names, (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
  EXPECT_EQ(words.train->spec().classes, 3);
  const auto samples = samples_of(words);
  EXPECT_EQ(samples[1].target, std::vector<float>{2});
  EXPECT_EQ(samples[2].target, std::vector<float>{1});
}

TEST(Table, TheHeaderMayNameTheTarget) {
  const auto samples = samples_of(read("Label,a,b\n3,1,2\n5,4,5\n3,7,8\n"));
  EXPECT_EQ(samples[1].inputs[0], (std::vector<float>{4, 5}));
  EXPECT_EQ(samples[1].target, std::vector<float>{1});
}

TEST(Table, ValuesAndShapesAreWhatWasAskedFor) {
  const DataPair pair = read("1,2,3,4,0.5\n2,6,7,8,-1e2\n3,0,0,0,0\n", wanting(TargetKind::values, {{1, 2, 2}}));
  EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{1, 2, 2}}));
  EXPECT_EQ(pair.train->spec().target, TargetKind::values);
  EXPECT_EQ(pair.train->spec().classes, 1);
  EXPECT_EQ(samples_of(pair)[1].target, std::vector<float>{-100});
  EXPECT_EQ(read("1,2,0\n3,4,1\n5,6,1\n", wanting(TargetKind::classes, {{3, 4}})).train->spec().inputs,
            (std::vector<tensor::Shape>{{1, 2}}));
  refused("1,2\n", {"--target-column"}, wanting(TargetKind::labels));
}

TEST(Table, FindsTheTestFileBeside) {
  const TempFolder folder;
  const std::pair<const char*, const char*> pairs[] = {{"sat.trn", "sat.tst"},    {"x_train.csv", "x_test.csv"},
                                                       {"train.csv", "test.csv"}, {"training-1.txt", "test-1.txt"},
                                                       {"a.trn.xz", "a.tst.gz"},  {"b_train.tsv.zst", "b_test.tsv"}};
  for (const auto& [train, test] : pairs) {
    EXPECT_EQ(test_table_beside(builtin_codecs(), folder.path() / train), fs::path()) << train;
    write_bytes(folder.path() / test, {});
    EXPECT_EQ(test_table_beside(builtin_codecs(), folder.path() / train), folder.path() / test) << train;
    fs::remove(folder.path() / test);
  }
  write_bytes(folder.path() / "stest.csv", {});
  EXPECT_EQ(test_table_beside(builtin_codecs(), folder.path() / "strain.csv"), fs::path());
}

TEST(Table, ClassesAreNumberedOverBothFiles) {
  const TempFolder folder;
  write_bytes(folder.path() / "a.trn.gz", pack_gz(bytes_of("1 2 5\n3 4 1\n")));
  write_bytes(folder.path() / "a.tst.zst", pack_zstd(bytes_of("7 8 3\n9 9 5\n")));
  DataRequest request;
  request.name = (folder.path() / "a.trn.gz").string();
  const DataPair pair = open_dataset(request);
  EXPECT_EQ(pair.train->spec().class_names, (std::vector<std::string>{"1", "3", "5"}));
  EXPECT_EQ(fetch_sample(*pair.train, 0).target, std::vector<float>{2});
  EXPECT_EQ(fetch_sample(*pair.test, 0).target, std::vector<float>{1});
  EXPECT_EQ(fetch_sample(*pair.test, 1).target, std::vector<float>{2});
  ASSERT_EQ(pair.notes.size(), 2u);
  EXPECT_NE(pair.notes[0].find("3 columns separated by spaces, no header, target column 3 -> 2 inputs"),
            std::string::npos);
  EXPECT_NE(pair.notes[1].find("a.tst.zst"), std::string::npos);

  write_bytes(folder.path() / "a.tst.zst", pack_zstd(bytes_of("7 8 9 3\n")));
  expect_user_error([&] { open_dataset(request); }, {"a.trn.gz", "a.tst.zst", "3 columns", "4"});
  write_bytes(folder.path() / "a.tst.zst", pack_zstd(bytes_of("7 8 word\n")));
  expect_user_error([&] { open_dataset(request); }, {"a.trn.gz", "a.tst.zst", "words"});
}

TEST(Table, WhatIsWrongIsNamedWithLineAndColumn) {
  refused("", {"empty"});
  refused("\n# only a comment\n", {"empty"});
  refused("a,b,c\n", {"no samples"});
  refused("1,2,0\n3,4,1\n", {"2 samples", "test set"});
  refused(",a,b\n0,1,2\n1,3,4\n", {"line 1", "column 1 has no name", "index=False"});
  refused("1\n2\n", {"line 1", "one column"});
  refused("1,2,0\n\n1,2\n", {"line 3", "2 columns", "3"});
  refused("1,2,0\n1,2,3,4\n", {"line 2", "4 columns", "3"});
  refused("1,2,0\n1,x,0\n", {"line 2", "column 2", "'x' is no number"});
  refused("1,x,0\n1,2,0\n", {"line 1", "column 2", "'x' is no number", "line 2", "--category-columns 2"});
  refused("1,2,0\n1,,0\n", {"line 2", "column 2", "missing"});
  refused("1,2,0\n?,1,0\n", {"line 2", "column 1", "missing"});
  refused("1,2,0\nNaN,1,0\n", {"line 2", "column 1", "missing"});
  refused("1\t2\t0\n1\t\t0\n", {"line 2", "column 2", "missing"});
  refused("1,2,0\n1,2,\n", {"line 2", "column 3", "class is missing"});
  refused("1,2,0\n1,inf,0\n", {"line 2", "column 2", "'inf'"});
  refused("1,2,0\n1,1e99,0\n", {"line 2", "column 2", "'1e99'"});
  refused("1,2,0\n1,0x10,0\n", {"line 2", "column 2", "'0x10'"});
  refused("1,2,0\n1,+-1,0\n", {"line 2", "column 2", "'+-1'"});
  refused("1,2,0\n1,2 3,0\n", {"line 2", "column 2", "'2 3'"});
  refused("1;2;0\n1,5;2;0\n", {"line 2", "column 1", "'1,5' has a decimal comma; write 1.5"});
  refused("1,5;2;0\n2,5;2;0\n", {"line 1", "column 1", "'1,5' has a decimal comma; write 1.5"});
  refused(
      "\xff\xfe"
      "a,b",
      {"UTF-16", "iconv"});
  refused("id,2019,y\n1,2,3\n4,5,6\n", {"line 1", "'id'", "'1' in line 2", "if the first line is a header"});
  refused("1,2,0\n1,\"2,0\n", {"line 2", "quote", "not closed"});
  refused("1,2,0\n1,\"2\"3,0\n", {"line 2", "column 2", "behind a closing quote"});
  refused("1,2,0\n1,2,1.5\n", {"line 2", "column 3", "'1.5'", "--target values"});
  refused("0,1,target\n1,2,3\n", {"'target', line 1", "3, line 2"});
  refused("1,2,word\n", {"line 1", "column 3", "'word'"}, wanting(TargetKind::values));
  refused("1,2,0\n1,\x1b[31m,0\n", {"line 2", "'?[31m'"});
  refused("1,2,0\n1," + std::string(1000, 'y') + ",0\n", {"'" + std::string(30, 'y') + "...'"});
  refused("1,2,na\xefve\n", {"line 1", "column 3", "UTF-8", "iconv"});
  refused("1,2," + std::string(1000, 'y') + "\n", {"line 1", "column 3", "longer"});
}

TEST(Table, TinyNumbersBecomeZero) {
  const auto samples = samples_of(read("0,1e-60,0\n1,-1e-400,1\n2,1,1\n"));
  EXPECT_EQ(samples[0].inputs[0][1], 0);
  EXPECT_EQ(samples[1].inputs[0][1], 0);
}

TEST(Table, TooManyClassesAreProbablyValues) {
  std::string text;
  for (int i = 0; i <= 10'000; ++i) text += "1," + std::to_string(i) + "\n";
  refused(text, {"line 10001", "10000 classes", "--target values"});
}

TEST(Table, LinesMayCrossThePiecesOfAFile) {
  std::string text;
  const int rows = 3000;
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i);
    for (int k = 0; k < 200; ++k) text += "," + std::to_string((i * 31 + k) % 1000) + ".5";
    text += "," + std::to_string(i % 3) + "\n";
  }
  ASSERT_GT(text.size(), std::size_t{2} << 20);
  const auto samples = samples_of(read(text));
  ASSERT_EQ(samples.size(), static_cast<std::size_t>(rows));
  for (int i = 0; i < rows; ++i) {
    const Sample& sample = samples[static_cast<std::size_t>(i)];
    ASSERT_EQ(sample.inputs[0][0], static_cast<float>(i));
    ASSERT_EQ(sample.inputs[0][200], static_cast<float>((i * 31 + 199) % 1000) + 0.5f);
    ASSERT_EQ(sample.target[0], static_cast<float>(i % 3));
  }
}

TEST(Table, AnEndlessLineIsRefused) {
  const Bytes bomb = pack_gz(Bytes(30'000'000, '7'));
  expect_user_error([&] { read_table(bomb, "bomb.csv.gz", {}); }, {"bomb.csv.gz", "line 1", "longer"});
}

// Every length, and every byte changed: an error or a dataset, never a crash.
TEST(Table, DamageAnywhereIsSurvived) {
  const Bytes whole = bytes_of("a;b;\"c d\"\n1;2.5e3;x\r\n# note\n-1;+3;y\n4;5;x\n");
  const auto survives = [](const Bytes& bytes) {
    for (const TargetKind kind : {TargetKind::classes, TargetKind::values}) try {
        read_table(bytes, "file.csv", wanting(kind));
      } catch (const base::Error& error) {
        EXPECT_EQ(error.exit_code(), 2) << error.what();
      }
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    survives(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)));
    for (int value = 0; value < 256; ++value) {
      Bytes damaged = whole;
      damaged[i] = static_cast<std::uint8_t>(value);
      survives(damaged);
    }
  }
}

TEST(Table, ReadsTheLandsatSet) {
  const char* folder = std::getenv("TRIREME_DATA");
  const fs::path path = fs::path(folder ? folder : "") / "statlog-landsat" / "sat.trn.xz";
  if (!folder || !fs::exists(path)) GTEST_SKIP() << "statlog-landsat/sat.trn.xz is not in the folder TRIREME_DATA";
  DataRequest request;
  request.name = path.string();
  const DataPair pair = open_dataset(request);
  EXPECT_EQ(pair.train->size(), 4435);
  EXPECT_EQ(pair.test->size(), 2000);
  EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{1, 36}}));
  EXPECT_EQ(pair.train->spec().class_names, (std::vector<std::string>{"1", "2", "3", "4", "5", "7"}));
  EXPECT_EQ(pair.train->columns()->inputs[0].type, ValueType::byte);
  const Sample first = fetch_sample(*pair.train, 0);
  EXPECT_EQ(first.inputs[0][0], 92);
  EXPECT_EQ(first.inputs[0][35], 87);
  EXPECT_EQ(first.target[0], 2);
}

}  // namespace
}  // namespace trireme::data
