#include "data/readers/table/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "base/error.h"
#include "data/codecs/decompress.h"
#include "data/dataset/columns.h"
#include "data/readers/load_tasks.h"
#include "data/readers/table/csv_rows.h"
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
  columns.target = {{1}, ValueType::real, column_data(memory->targets)};
  columns.memory = memory;
  return column_source(spec, std::move(columns));
}

DataPair make_pair(CsvRows train, CsvRows* test, const DataRequest& request) {
  if (test && (test->inputs != train.inputs || test->target_column != train.target_column))
    base::user_error("{} has {} columns and its target in column {}, {} has {} and {}; both must have the same",
                     train.where, train.inputs + 1, train.target_column + 1, test->where, test->inputs + 1,
                     test->target_column + 1);
  if (!test && !request.whole && train.samples < kFewestSamples)
    base::user_error("{} has {} samples, too few to keep some as a test set; put one beside it (train.csv, test.csv)",
                     train.where, train.samples);
  DataSpec spec;
  const bool shaped = !request.wanted_inputs.empty() && request.wanted_inputs[0].count() == train.inputs;
  spec.inputs = {shaped ? request.wanted_inputs[0] : tensor::Shape{1, train.inputs}};
  spec.table = spec.inputs[0].rank() != 3;  // images written as rows stay images
  spec.target = request.wanted_target;
  spec.classes = 1;
  if (spec.target == TargetKind::classes) {
    for (ClassName& name : join_classes(train, test)) spec.class_names.push_back(std::move(name.text));
    spec.classes = static_cast<std::int64_t>(spec.class_names.size());
    renumber(train, spec.class_names);
    if (test) renumber(*test, spec.class_names);
  }
  const DatasetPtr source = make_source(spec, std::move(train));
  if (!test) return with_test_share(source, request);
  const std::string note = fmt::format("the test set is {}", test->where);
  return {source, make_source(spec, std::move(*test)), {note}};
}

void refuse_labels(const DataRequest& request, const std::string& where) {
  if (request.wanted_target == TargetKind::labels)
    base::user_error("{}: a table has one target per line; save samples with several labels as .npz", where);
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
  refuse_labels(request, request.name);
  const fs::path path = request.name;
  const fs::path test_path = request.whole ? fs::path() : test_table_beside(request.codecs, path);
  CsvRows train, test;
  const auto read_into = [&](const fs::path& from, CsvRows& rows) {
    UnpackedReader reader(request.codecs, from);
    rows = read_rows(reader, request.wanted_target);
  };
  run_load_tasks({[&] { read_into(path, train); },
                  [&] {
                    if (!test_path.empty()) read_into(test_path, test);
                  }});
  return make_pair(std::move(train), test_path.empty() ? nullptr : &test, request);
}

DataPair read_table(std::span<const std::uint8_t> bytes, const std::string& name, const DataRequest& request) {
  refuse_labels(request, name);
  UnpackedReader reader(request.codecs, bytes, name);
  return make_pair(read_rows(reader, request.wanted_target), nullptr, request);
}

}  // namespace trireme::data
