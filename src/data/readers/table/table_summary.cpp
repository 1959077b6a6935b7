#include "data/readers/table/table_summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "data/readers/table/csv_values.h"
#include "data/readers/table/table_layout.h"

namespace trireme::data {
namespace {

constexpr std::size_t kMostColumns = std::size_t{1} << 20;

void see(ColumnSummary::Seen& seen, std::string_view field, std::int64_t line, std::int64_t fields = 1) {
  if (seen.fields == 0 || line < seen.line) {
    seen.line = line;
    seen.text = field.substr(0, kMaxWordText);
  }
  seen.fields += fields;
}

void count_field(ColumnSummary& column, std::string_view field) {
  if (column.has_many) return;
  if (const auto known = column.counts.find(field); known != column.counts.end()) {
    ++known->second;
  } else if (column.counts.size() == kMostWords) {
    column.has_many = true;
    column.counts.clear();
  } else {
    column.counts.emplace(field.substr(0, kMaxWordText), 1);
  }
}

void add_field(ColumnSummary& column, std::string_view field, std::int64_t line) {
  if (is_missing(field)) return see(column.missing, field, line);
  if (field == "-") return see(column.dashes, field, line);
  count_field(column, field);
  float value;
  if (!parse_number(field, value)) {
    if (field.size() > kMaxWordText) column.has_long_text = true;
    if (has_decimal_comma(field)) see(column.decimal_commas, field, line);
    return see(column.words, field, line);
  }
  const auto number = static_cast<double>(value);
  column.min = column.numbers.fields == 0 ? number : std::min(column.min, number);
  column.max = column.numbers.fields == 0 ? number : std::max(column.max, number);
  column.sum += number;
  column.is_whole = column.is_whole && number == std::trunc(number);
  see(column.numbers, field, line);
}

// A dash among numbers is a missing value; among words it is a word.
void place_dashes(ColumnSummary& column) {
  if (column.dashes.fields == 0) return;
  const bool are_missing = column.numbers.fields > 0 && column.words.fields == 0;
  see(are_missing ? column.missing : column.words, "-", column.dashes.line, column.dashes.fields);
  if (!are_missing && !column.has_many) column.counts.emplace("-", column.dashes.fields);
}

void add_record(TableSummary& summary, const CsvFields& fields, std::int64_t line) {
  if (fields.size() != summary.columns.size())
    base::user_error("{}, line {}: {} columns, the lines before have {}", summary.where, line, fields.size(),
                     summary.columns.size());
  for (std::size_t k = 0; k < fields.size(); ++k) add_field(summary.columns[k], fields[k], line);
  ++summary.rows;
}

// Words above words: the first record is data if one of its words occurs below itself, and a header if not, or if a
// column has numbers.
bool reads_like_header(const TableSummary& summary, const std::vector<std::string>& first) {
  const auto has_numbers = [](const ColumnSummary& column) { return column.numbers.fields > 0; };
  if (std::ranges::any_of(summary.columns, has_numbers)) return true;
  for (std::size_t k = 0; k < first.size(); ++k)
    if (summary.columns[k].counts.contains(first[k]) || (first[k] == "-" && summary.columns[k].dashes.fields > 0))
      return false;
  return true;
}

}  // namespace

ColumnSummary::Kind ColumnSummary::kind() const {
  if (numbers.fields > 0) return words.fields > 0 ? Kind::mixed : Kind::numbers;
  return words.fields > 0 ? Kind::words : Kind::empty;
}

const char* kind_text(ColumnSummary::Kind kind) {
  switch (kind) {
    case ColumnSummary::Kind::numbers: return "numbers";
    case ColumnSummary::Kind::words: return "words";
    case ColumnSummary::Kind::mixed: return "numbers and words";
    case ColumnSummary::Kind::empty: break;
  }
  return "empty";
}

TableSummary describe_table(const TableFile& file, std::optional<bool> has_header) {
  const TableFront front = read_front(file);
  if (front.first.size() > kMostColumns)
    base::user_error("{}, line {}: {} columns, expected at most {} where some are words or have missing values",
                     front.where, front.line, front.first.size(), kMostColumns);
  if (!has_header) {
    const HeaderFound found = find_header(front, {});
    if (found != HeaderFound::unsure) has_header = found == HeaderFound::yes;
  }
  TableSummary summary{front.where, front.separator, has_header.value_or(true), 0, {}};
  summary.columns.resize(front.first.size());
  UnpackedReader reader = file.open();
  CsvRecords records(reader);
  CsvFields fields;
  for (bool first = true; records.next(fields); first = false)
    if (!first || !summary.has_header) add_record(summary, fields, records.line());
  if (!has_header && !reads_like_header(summary, front.first)) {
    summary.has_header = false;
    add_record(summary, CsvFields(front.first.begin(), front.first.end()), front.line);
  }
  for (std::size_t k = 0; k < summary.columns.size(); ++k) {
    if (summary.has_header) summary.columns[k].name = front.first[k];
    place_dashes(summary.columns[k]);
  }
  return summary;
}

TableSummary describe_table(const std::filesystem::path& path) {
  const CodecRegistry codecs = builtin_codecs();
  return describe_table(TableFile{codecs, path});
}

}  // namespace trireme::data
