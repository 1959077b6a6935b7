#include "data/readers/table/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "data/codecs/decompress.h"
#include "data/dataset/columns.h"
#include "data/dataset/table_schema.h"
#include "data/readers/load_tasks.h"
#include "data/readers/table/csv_rows.h"
#include "data/readers/table/find_schema.h"
#include "data/readers/test_share.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array kEndings = {".csv", ".tsv", ".txt", ".trn", ".dat", ".data"};
constexpr std::int64_t kFewestSamples = 3;  // needed to split off a test set
// Endings of training files, and the endings of their test files.
constexpr std::array<std::pair<const char*, const char*>, 4> kTestEndings = {
    {{".trn", ".tst"}, {".trn", ".tes"}, {".train", ".test"}, {".tra", ".tes"}}};
constexpr std::array<std::pair<std::string_view, const char*>, 3> kTestWords = {
    {{"training", "test"}, {"training", "testing"}, {"train", "test"}}};

// Merges the classes of both tables, sorted (numbers by value). User error if one table has numbers and the other
// words.
std::vector<ClassName> join_classes(const CsvRows& train, const CsvRows* test) {
  std::vector<ClassName> all = train.classes;
  if (test) {
    if (train.classes[0].is_number != test->classes[0].is_number)
      base::user_error("{} and {} have numbers as classes in one file, words in the other; use one kind", train.where,
                       test->where);
    all.insert(all.end(), test->classes.begin(), test->classes.end());
  }
  const auto key = [](const ClassName& name) { return std::pair(name.number, std::string_view(name.text)); };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto same = [](const auto& a, const auto& b) { return a.text == b.text; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

// Converts class indices from the file's order of appearance to the order of the merged list.
void renumber(CsvRows& rows, const std::vector<std::string>& names) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < names.size(); ++i) index[names[i]] = i;
  std::vector<float> renumbered;
  for (const ClassName& name : rows.classes) renumbered.push_back(static_cast<float>(index.at(name.text)));
  for (float& target : rows.targets) target = renumbered[static_cast<std::size_t>(target)];
}

DatasetPtr make_source(const DataSpec& spec, CsvRows rows) {
  const auto memory = std::make_shared<const CsvRows>(std::move(rows));
  Columns columns;
  columns.samples = memory->samples;
  columns.inputs = {{spec.inputs[0], memory->type,
                     memory->type == ValueType::byte ? column_data(memory->bytes) : column_data(memory->reals)}};
  columns.target = {{target_floats(spec)}, ValueType::real, column_data(memory->targets)};
  columns.memory = memory;
  return column_source(spec, std::move(columns));
}

// A table with the schema that it is read by.
struct FoundTable {
  TableSchema schema;
  TableLayout layout;
  CsvRows rows;
  std::vector<std::string> notes{};
};

TableLayout own_layout(const TableSchema& schema, const TableFront& front, bool has_header) {
  TableLayout layout{has_header, front.first.size(), {}, {}};
  for (const TableColumn& column : schema.inputs) layout.inputs.push_back(static_cast<std::size_t>(column.place));
  for (const TableColumn& column : schema.targets) layout.targets.push_back(static_cast<std::size_t>(column.place));
  return layout;
}

// The table if all its inputs are numbers, in one pass; else nothing.
std::optional<FoundTable> read_as_numbers(const TableFile& file, const TableFront& front, const DataRequest& request) {
  const TableOptions& options = request.table;
  const HeaderFound header = find_header(front, expected_names(front, options));
  if (header == HeaderFound::unsure || !options.categories.empty() || options.missing != MissingValues::refuse)
    return {};
  const bool has_header = header == HeaderFound::yes;
  FoundTable found{schema_of_numbers(front, has_header, options, request.wanted_target), {}, {}};
  found.layout = own_layout(found.schema, front, has_header);
  auto rows = read_numbers(file, found.schema, found.layout, request.wanted_target);
  if (!rows) return {};
  found.rows = std::move(*rows);
  return found;
}

FoundTable find_and_read(const TableFile& file, const DataRequest& request) {
  const TableFront front = read_front(file);
  std::optional<FoundTable> numbers = read_as_numbers(file, front, request);
  FoundTable found = numbers ? std::move(*numbers) : FoundTable();
  if (!numbers) {
    const HeaderFound header = find_header(front, expected_names(front, request.table));
    const TableSummary summary =
        describe_table(file, header == HeaderFound::unsure ? std::nullopt : std::optional(header == HeaderFound::yes));
    if (summary.rows == 0) base::user_error("{} has a header line but no samples", summary.where);
    found.schema = schema_of_numbers(front, summary.has_header, request.table, request.wanted_target);
    complete_schema(found.schema, summary, request.table);
    found.layout = own_layout(found.schema, front, summary.has_header);
    found.rows = read_rows(file, found.schema, found.layout, request.wanted_target);
  }
  found.notes.push_back(fmt::format("{}: {}", front.where, schema_text(found.schema, front)));
  return found;
}

// `table`: where the schema is from, for messages.
FoundTable read_by(const TableSchema& schema, const TableFile& file, const std::string& table,
                   const DataRequest& request) {
  FoundTable found{schema, lay_out(schema, read_front(file), table), {}};
  if (found.layout.targets.empty())
    base::user_error("{} lacks the target column that {} has: {}", file.path.string(), table,
                     column_text(schema.targets[0]));
  found.rows = read_rows(file, schema, found.layout, request.wanted_target);
  found.notes = found.layout.notes;
  return found;
}

// Tables to be predicted, as competitions give them, lie where a test set would.
bool has_targets(const TableSchema& schema, const TableFile& file, const std::string& table) {
  return !lay_out(schema, read_front(file), table).targets.empty();
}

bool is_same_layout(const TableLayout& a, const TableLayout& b) {
  return a.has_header == b.has_header && a.inputs == b.inputs && a.targets == b.targets;
}

// Both tables of a pair, at the same time where the columns of the test table are numbers in the same places. Returns
// whether the second one is a test set: it has the target.
bool find_and_read_both(const TableFile& train_file, const TableFile& test_file, const DataRequest& request,
                        FoundTable& train, CsvRows& test) {
  std::optional<FoundTable> early;
  const TableFront test_front = read_front(test_file);
  run_load_tasks({[&] { train = find_and_read(train_file, request); },
                  [&] {
                    if (request.table.is_default() && request.wanted_target != TargetKind::labels &&
                        test_front.first.size() == read_front(train_file).first.size())
                      early = read_as_numbers(test_file, test_front, request);
                  }});
  const std::string table = fmt::format("the training table {}", train.rows.where);
  if (!has_targets(train.schema, test_file, table)) return false;
  const auto is_numbers = [](const TableColumn& column) { return column.words.empty(); };
  if (early && std::ranges::all_of(train.schema.inputs, is_numbers) &&
      is_same_layout(early->layout, lay_out(train.schema, test_front, table))) {
    test = std::move(early->rows);
    return true;
  }
  FoundTable second = read_by(train.schema, test_file, table, request);
  test = std::move(second.rows);
  train.notes.insert(train.notes.end(), second.notes.begin(), second.notes.end());
  return true;
}

DataSpec spec_of(const TableSchema& schema, const DataRequest& request) {
  DataSpec spec;
  const std::int64_t values = input_values(schema);
  const bool shaped = !request.wanted_inputs.empty() && request.wanted_inputs[0].count() == values;
  spec.inputs = {shaped ? request.wanted_inputs[0] : tensor::Shape{1, values}};
  spec.table = spec.inputs[0].rank() != 3;  // images written as rows stay images
  spec.target = request.wanted_target;
  spec.classes = std::ssize(schema.targets);
  spec.class_names = target_names(schema, spec.target);
  if (!is_plain(schema)) spec.schema = std::make_shared<const TableSchema>(schema);
  return spec;
}

DataPair make_pair(FoundTable train, CsvRows* test, const DataRequest& request) {
  if (!test && !request.whole && train.rows.samples < kFewestSamples)
    base::user_error("{} has {}, too few to keep some as a test set; put one beside it (train.csv, test.csv)",
                     train.rows.where, base::counted(train.rows.samples, "sample"));
  DataSpec spec = spec_of(train.schema, request);
  if (spec.target == TargetKind::classes) {
    for (ClassName& name : join_classes(train.rows, test)) spec.class_names.push_back(std::move(name.text));
    spec.classes = std::ssize(spec.class_names);
    renumber(train.rows, spec.class_names);
    if (test) renumber(*test, spec.class_names);
  }
  const DatasetPtr source = make_source(spec, std::move(train.rows));
  DataPair pair;
  if (test) {
    const std::string test_name = test->where;
    pair = {source, make_source(spec, std::move(*test)), {fmt::format("the test set is {}", test_name)}};
  } else {
    pair = with_test_share(source, request);
  }
  pair.notes.insert(pair.notes.begin(), train.notes.begin(), train.notes.end());
  return pair;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The name with the word replaced where it stands alone; empty if it does not occur alone.
std::string replace_word(const std::string& name, std::string_view word, const char* by) {
  const std::size_t at = name.rfind(word);
  if (at == std::string::npos || (at > 0 && is_letter(name[at - 1]))) return {};
  const std::size_t end = at + word.size();
  if (end < name.size() && is_letter(name[end])) return {};
  return name.substr(0, at) + by + name.substr(end);
}

}  // namespace

bool is_table(const DataRequest& request) {
  const fs::path path = request.name;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return false;
  std::string ending = without_packing(request.codecs, path).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

fs::path test_table_beside(const CodecRegistry& codecs, const fs::path& path) {
  const fs::path plain = without_packing(codecs, path);
  const std::string stem = plain.stem().string(), ending = plain.extension().string();
  std::vector<std::string> names;
  for (const auto& [train, test] : kTestEndings)
    if (ending == train) names.push_back(stem + test);
  for (const auto& [train, test] : kTestWords)
    if (const std::string name = replace_word(stem, train, test); !name.empty()) names.push_back(name + ending);
  for (const std::string& name : names)
    if (fs::path found = find_packed(codecs, path.parent_path(), name); !found.empty()) return found;
  return {};
}

DataPair open_table(const DataRequest& request) {
  const TableFile file{request.codecs, request.name};
  const fs::path test_path = request.whole ? fs::path() : test_table_beside(request.codecs, file.path);
  const TableFile test_file{request.codecs, test_path};
  FoundTable train;
  CsvRows test;
  bool has_test = !test_path.empty();
  if (request.schema) {
    const std::string table = "the run's training table";
    train = read_by(*request.schema, file, table, request);
    has_test = has_test && has_targets(*request.schema, test_file, table);
    if (has_test) test = read_by(*request.schema, test_file, table, request).rows;
  } else if (has_test) {
    has_test = find_and_read_both(file, test_file, request, train, test);
  } else {
    train = find_and_read(file, request);
  }
  if (!has_test && !test_path.empty())
    train.notes.push_back(fmt::format("{} has no target column, so it is no test set; predict it with the trained run",
                                      test_path.string()));
  return make_pair(std::move(train), has_test ? &test : nullptr, request);
}

DataPair read_table(std::span<const std::uint8_t> bytes, const std::string& name, const DataRequest& request) {
  const TableFile file{request.codecs, name, &bytes};
  return make_pair(request.schema ? read_by(*request.schema, file, "the run's training table", request)
                                  : find_and_read(file, request),
                   nullptr, request);
}

}  // namespace trireme::data
