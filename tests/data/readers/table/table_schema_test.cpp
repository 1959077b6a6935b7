// What the columns of a table are: found in the training table, and found again in other tables.
#include "data/dataset/table_schema.h"

#include <algorithm>

#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "data/open_data.h"
#include "data/readers/packed.h"
#include "data/readers/table/csv.h"
#include "data/readers/table/csv_unlabelled.h"
#include "data/stages/normalize.h"

namespace trireme::data {
namespace {

using Names = std::vector<std::string>;
using Row = std::vector<float>;

DataRequest whole(TargetKind target = TargetKind::classes, TableOptions options = {}) {
  DataRequest request;
  request.wanted_target = target;
  request.table = std::move(options);
  request.whole = true;
  return request;
}

DatasetPtr table(const std::string& text, const DataRequest& request = whole()) {
  return read_table(Bytes(text.begin(), text.end()), "file.csv", request).train;
}

std::vector<Row> inputs_of(const Dataset& set) {
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < set.size(); ++i) rows.push_back(fetch_sample(set, i).inputs[0]);
  return rows;
}

std::vector<Row> targets_of(const Dataset& set) {
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < set.size(); ++i) rows.push_back(fetch_sample(set, i).target);
  return rows;
}

void is_refused(const std::string& text, const Names& parts, const DataRequest& request = whole()) {
  expect_user_error([&] { table(text, request); }, parts);
}

// As a later command reads tables for a run that was trained with `set`.
DataRequest like(const Dataset& set) {
  DataRequest request = whole(set.spec().target);
  request.schema = set.spec().schema;
  request.wanted_inputs = set.spec().inputs;
  request.wanted_classes = set.spec().classes;
  return request;
}

const std::string kShirts = "colour,size,price\nred,2,10\nblue,3.5,20\nred,1,30\n";

TEST(TableSchema, WordsBecomeAnInputEach) {
  const DatasetPtr set = table(kShirts);
  EXPECT_EQ(set->spec().inputs, (std::vector<tensor::Shape>{{1, 3}}));
  EXPECT_EQ(inputs_of(*set), (std::vector<Row>{{0, 1, 2}, {1, 0, 3.5f}, {0, 1, 1}}));
  ASSERT_TRUE(set->spec().schema);
  EXPECT_EQ(set->spec().schema->inputs[0].words, (Names{"blue", "red"}));
  EXPECT_EQ(table("red,2,a\nblue,3,b\n")->columns()->inputs[0].type, ValueType::byte);
}

TEST(TableSchema, NumbersWithoutAHeaderNeedNone) {
  EXPECT_FALSE(table("1,2,0\n3,4,1\n")->spec().schema);
  EXPECT_TRUE(table("a,b,c\n1,2,0\n3,4,1\n")->spec().schema);
  EXPECT_TRUE(table("1,2,0\n3,4,1\n", whole(TargetKind::classes, {.targets = {"1"}}))->spec().schema);
}

TEST(TableSchema, TheHeaderIsFoundByWhatIsBelow) {
  EXPECT_EQ(table("a,b,c\n1,2,x\n3,4,y\n")->size(), 2);
  EXPECT_EQ(table("Na,Mg,Type\n13.6,4.4,1\n13.9,3.6,2\n")->size(), 2) << "sodium is no missing value";
  EXPECT_EQ(table("p,x,s\ne,x,s\np,b,y\n")->size(), 3) << "the first words occur again";
  EXPECT_EQ(table("cap,edible\nx,e\nb,p\nx,e\n")->size(), 3) << "they do not";
  EXPECT_EQ(table("red,S,class\nred,S,class\n")->size(), 1) << "a name that targets have";
  EXPECT_EQ(table("red,S,7\nblue,M,8\n", whole(TargetKind::values))->size(), 2);
}

TEST(TableSchema, TheTargetIsTheColumnNamed) {
  const auto of = [](const Names& targets, TargetKind kind) {
    return table("a,b,c\n1,2,0\n4,5,1\n", whole(kind, {.targets = targets}));
  };
  EXPECT_EQ(inputs_of(*of({"b"}, TargetKind::values)), (std::vector<Row>{{1, 0}, {4, 1}}));
  EXPECT_EQ(targets_of(*of({"1"}, TargetKind::values)), (std::vector<Row>{{1}, {4}}));
  const DatasetPtr two = of({"c", "a"}, TargetKind::values);
  EXPECT_EQ(targets_of(*two), (std::vector<Row>{{0, 1}, {1, 4}})) << "in the order given";
  EXPECT_EQ(two->spec().class_names, (Names{"c", "a"}));
  EXPECT_EQ(two->spec().classes, 2);
  expect_user_error([&] { of({"a", "b"}, TargetKind::classes); }, {"2 columns", "--target values"});
  expect_user_error([&] { of({"bb"}, TargetKind::values); }, {"'bb'", "did you mean 'b'", "'a', 'b', 'c'"});
  expect_user_error([&] { of({"4"}, TargetKind::values); }, {"'4'", "columns 1 to 3"});
  expect_user_error([&] { of({"a", "1"}, TargetKind::values); }, {"'1' twice"});
  is_refused("1,2,0\n4,5,1\n", {"'a'", "no header"}, whole(TargetKind::values, {.targets = {"a"}}));
}

TEST(TableSchema, LabelsAreColumnsOfZeroAndOne) {
  const TableOptions options{.targets = {"wet", "cold"}};
  const DatasetPtr set = table("x,wet,cold\n5,0,1\n6,1,1\n", whole(TargetKind::labels, options));
  EXPECT_EQ(targets_of(*set), (std::vector<Row>{{0, 1}, {1, 1}}));
  EXPECT_EQ(set->spec().class_names, (Names{"wet", "cold"}));
  EXPECT_EQ(targets_of(*table("x,wet,cold\n5,False,True\n6,1,true\n", whole(TargetKind::labels, options))),
            (std::vector<Row>{{0, 1}, {1, 1}}));
  is_refused("x,wet,cold\n5,0,2\n", {"line 2", "column 3 ('cold')", "'2'", "0 or 1"},
             whole(TargetKind::labels, options));
}

TEST(TableSchema, ColumnsMayBeLeftOut) {
  const std::string text = "id,a,b\nx1,1,0\nx2,2,1\n";
  const DatasetPtr set = table(text, whole(TargetKind::classes, {.ignored = {"id"}}));
  EXPECT_EQ(inputs_of(*set), (std::vector<Row>{{1}, {2}}));
  EXPECT_EQ(table(",a,b\n0,1,0\n1,2,1\n", whole(TargetKind::classes, {.ignored = {"1"}}))->spec().inputs[0].count(), 1);
  is_refused(text, {"column 3", "target", "--target-column"}, whole(TargetKind::classes, {.ignored = {"b"}}));
  is_refused("a,b\n1,2\n", {"no column is left"}, whole(TargetKind::classes, {.ignored = {"a"}}));
}

TEST(TableSchema, NumbersMayBeCodes) {
  const DatasetPtr set = table("zip,y\n0815,0\n4711,1\n0815,1\n", whole(TargetKind::classes, {.categories = {"zip"}}));
  EXPECT_EQ(set->spec().schema->inputs[0].words, (Names{"0815", "4711"}));
  EXPECT_EQ(inputs_of(*set), (std::vector<Row>{{1, 0}, {0, 1}, {1, 0}}));
  const DatasetPtr mixed = table("k,y\n1,0\nA,1\n", whole(TargetKind::classes, {.categories = {"1"}}));
  EXPECT_EQ(mixed->spec().schema->inputs[0].words, (Names{"1", "A"}));
  is_refused("zip,y\n0815,0\n", {"column 2", "target"}, whole(TargetKind::classes, {.categories = {"y"}}));
}

TEST(TableSchema, MissingValuesAreRefusedOrFilledIn) {
  const std::string text = "a,b,y\n1,red,0\n?,NA,1\n5,blue,0\n-,,1\n";
  is_refused(text, {"line 3", "column 1 ('a')", "missing", "2 of 4 lines", "--missing mean", "--ignore-columns a"});
  const auto filled = [&](MissingValues how) { return table(text, whole(TargetKind::classes, {.missing = how})); };
  EXPECT_EQ(inputs_of(*filled(MissingValues::mean)), (std::vector<Row>{{1, 0, 1}, {3, 0, 0}, {5, 1, 0}, {3, 0, 0}}));
  EXPECT_EQ(inputs_of(*filled(MissingValues::zero)), (std::vector<Row>{{1, 0, 1}, {0, 0, 0}, {5, 1, 0}, {0, 0, 0}}));
  is_refused("a,y\n1,\n", {"line 2", "class is missing"}, whole(TargetKind::classes, {.missing = MissingValues::zero}));
  is_refused("a,y\n?,1\n?,2\n", {"column 1 ('a')", "no line has a value"});
  // A dash is a word among words.
  EXPECT_EQ(table("+,0\n-,1\n")->spec().schema->inputs[0].words, (Names{"+", "-"}));
}

TEST(TableSchema, ColumnsOfManyWordsAreRefused) {
  std::string names = "name,y\n", many = "code,y\n";
  for (int i = 0; i < 30; ++i) names += fmt::format("person {},{}\n", i, i % 2);
  for (int i = 0; i < 5000; ++i) many += fmt::format("c{},{}\n", i % 1001, i % 2);
  is_refused(names, {"column 1 ('name')", "30 different words in 30 lines", "--ignore-columns name"});
  EXPECT_EQ(table(names, whole(TargetKind::classes, {.categories = {"name"}}))->spec().inputs[0].count(), 30);
  is_refused(many, {"column 1 ('code')", "more than 1000", "--ignore-columns code"});
  is_refused("a,y\nred,1\n2,0\n", {"line 2", "'red' is no number", "'2' in line 3", "--category-columns a"});
  is_refused("a,y\nna\xefve,1\nx,0\n", {"column 1 ('a')", "UTF-8", "iconv"});
}

TEST(TableSchema, OtherTablesAreReadByName) {
  const DatasetPtr run = table(kShirts);
  const DatasetPtr other = table("note,price,size,colour\nold,30,7,red\nnew,10,8,blue\n", like(*run));
  EXPECT_EQ(inputs_of(*other), (std::vector<Row>{{0, 1, 7}, {1, 0, 8}}));
  EXPECT_EQ(other->spec().class_names, (Names{"10", "30"}));
  const std::string extra = "note,price,size,colour\nold,30,7,red\n";
  const DataPair pair = read_table(Bytes(extra.begin(), extra.end()), "file.csv", like(*run));
  ASSERT_FALSE(pair.notes.empty());
  EXPECT_NE(pair.notes[0].find("'note'"), std::string::npos);
  is_refused("price,size\n30,7\n", {"file.csv lacks", "'colour'", "'price', 'size'"}, like(*run));
  is_refused("colour,size,price\nred,1,10\npink,1,10\n", {"line 3", "column 1 ('colour')", "'pink'", "'blue', 'red'"},
             like(*run));
  is_refused("size,colour,price\n1,,10\n", {"line 2", "column 2 ('colour')", "missing"}, like(*run));
  is_refused("size,colour,price\nbig,red,10\n2,red,3\n", {"line 2", "column 1 ('size')", "'big' is no number"},
             like(*run));
  is_refused("size,size,colour,price\n1,1,red,10\n", {"line 1", "two columns", "'size'"}, like(*run));
}

TEST(TableSchema, OtherTablesAreReadByPlaceWithoutAHeader) {
  const DatasetPtr run = table("id,y,colour,size\n7,1,red,2\n8,0,blue,3\n",
                               whole(TargetKind::classes, {.targets = {"y"}, .ignored = {"id"}}));
  EXPECT_EQ(inputs_of(*table("9,0,red,5\n", like(*run))), (std::vector<Row>{{0, 1, 5}}));
  is_refused("9,0,red,5,6\n", {"5 columns", "has 4 columns, 2 of them inputs"}, like(*run));
  const TempFolder folder;
  const auto unlabelled = [&](const std::string& text) {
    write_bytes(folder.path() / "p.csv", Bytes(text.begin(), text.end()));
    DataRequest request = like(*run);
    request.name = (folder.path() / "p.csv").string();
    return open_unlabelled_table(request);
  };
  EXPECT_EQ(inputs_of(*unlabelled("red,5\n")->train), (std::vector<Row>{{0, 1, 5}})) << "the inputs alone";
  EXPECT_EQ(inputs_of(*unlabelled("9,red,5\n")->train), (std::vector<Row>{{0, 1, 5}})) << "without the target";
  EXPECT_EQ(inputs_of(*unlabelled("size,colour\n5,red\n")->train), (std::vector<Row>{{0, 1, 5}})) << "by name";
  EXPECT_FALSE(unlabelled("9,0,red,5\n")) << "it has a target";
  EXPECT_FALSE(unlabelled("y,size,colour\n1,5,red\n"));
}

TEST(TableSchema, TheTestTableIsReadLikeTheTrainingTable) {
  const TempFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    write_bytes(folder.path() / name, Bytes(text.begin(), text.end()));
  };
  DataRequest request;
  request.name = (folder.path() / "train.csv").string();
  write("train.csv", "a,b,y\n1,2,0\n300,4,1\n");
  write("test.csv", "y,b,a\n1,20,10\n");
  EXPECT_EQ(inputs_of(*open_dataset(request).test), (std::vector<Row>{{10, 20}}));
  write("test.csv", "y,b\n1,20\n");
  expect_user_error([&] { open_dataset(request); }, {"test.csv lacks", "train.csv", "'a'"});
  // One without the target is to be predicted: a share of the training table is the test set.
  write("train.csv", "a,b,y\n1,2,0\n300,4,1\n5,6,0\n7,8,1\n9,9,0\n");
  write("test.csv", "a,b\n1,20\n");
  const DataPair alone = open_dataset(request);
  EXPECT_EQ(alone.test->size(), 1);
  EXPECT_TRUE(std::ranges::any_of(alone.notes, [](const std::string& note) {
    return note.find("test.csv has no target column") != std::string::npos;
  }));
  write("train.csv", "a,b,y\n1,red,0\n300,blue,1\n");
  write("test.csv", "1,red,1\n");
  EXPECT_EQ(inputs_of(*open_dataset(request).test), (std::vector<Row>{{1, 0, 1}}));
  write("test.csv", "1,2,1\n");
  expect_user_error([&] { open_dataset(request); }, {"test.csv", "line 1", "'2'", "'blue', 'red'"});
}

TEST(TableSchema, CategoriesStayZeroAndOne) {
  const DatasetPtr set = table(kShirts);
  for (const char* kind : {"standard", "mean", "scale"}) {
    const Normalization n = compute_normalization(set, kind);
    ASSERT_EQ(n.inputs[0].mean.size(), 3u) << kind;
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(n.inputs[0].mean[k], 0) << kind;
      EXPECT_EQ(n.inputs[0].divisor[k], 1) << kind;
    }
    EXPECT_NE(n.inputs[0].divisor[2], 1) << kind;
  }
}

TEST(TableSchema, IsKeptAsJsonAndInPackedFiles) {
  const DataRequest request = whole(TargetKind::classes, {.ignored = {"id"}, .missing = MissingValues::mean});
  const DatasetPtr set = table("id,a,\"b \"\"c\"\"\",y\n1,0.1,rot,0\n2,?,grün,1\n", request);
  const TableSchema& schema = *set->spec().schema;
  EXPECT_EQ(schema_from_json(to_json(schema)), schema);
  EXPECT_EQ(schema.inputs[0].fill, 0.1f);
  for (const char* text : {"", "{}", "[]", R"({"columns":2,"header":false,"inputs":[{"column":3}],"targets":[]})"})
    EXPECT_THROW(schema_from_json(text), std::exception) << text;
  const TempFolder folder;
  write_packed(folder.path() / "t.trireme", {set, set});
  EXPECT_EQ(*open_packed(folder.path() / "t.trireme").train->spec().schema, schema);
}

TEST(TableSchema, OptionsAboutColumnsAreForTables) {
  DataRequest request = whole(TargetKind::classes, {.ignored = {"a"}});
  request.name = "synthetic";
  expect_user_error([&] { open_dataset(request); }, {"'synthetic' is no text table", "--ignore-columns"});
}

}  // namespace
}  // namespace trireme::data
