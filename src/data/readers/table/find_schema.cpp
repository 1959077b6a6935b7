#include "data/readers/table/find_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "data/readers/table/csv_values.h"

namespace trireme::data {
namespace {

constexpr std::array<std::string_view, 3> kTargetNames = {"label", "class", "target"};
constexpr std::size_t kFewWords = 20;  // of a column of any table; more may be names or free text
constexpr std::size_t kListedColumns = 5;

bool is_target_name(const std::string& name) {
  return std::ranges::find(kTargetNames, lower(name)) != kTargetNames.end();
}

// The column that an option names: by the header, else by number.
std::size_t find_column(const std::string& text, const char* option, const TableFront& front, bool has_header) {
  const std::size_t width = front.first.size();
  if (has_header) {
    const auto at = std::ranges::find(front.first, text);
    if (at != front.first.end()) return static_cast<std::size_t>(at - front.first.begin());
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && number >= 1 && number <= width) return number - 1;
  if (is_number || !has_header)
    base::user_error("{}: --{} names column '{}', but {}", front.where, option, text,
                     is_number ? fmt::format("there are columns 1 to {}", width)
                               : "the table has no header; give the number of the column, from 1");
  const std::string near = base::nearest_name(text, front.first);
  base::user_error("{}: --{}: no column is called '{}'{}; the columns are {}", front.where, option, text,
                   near.empty() ? "" : fmt::format(", did you mean '{}'?", shown(near)), shown_list(front.first));
}

std::set<std::size_t> find_columns(const std::vector<std::string>& names, const char* option, const TableFront& front,
                                   bool has_header) {
  std::set<std::size_t> columns;
  for (const std::string& name : names)
    if (!columns.insert(find_column(name, option, front, has_header)).second)
      base::user_error("--{} names column '{}' twice", option, name);
  return columns;
}

std::vector<std::size_t> find_targets(const TableFront& front, bool has_header, const TableOptions& options,
                                      TargetKind kind) {
  std::vector<std::size_t> targets;  // in the order given
  for (const std::string& name : options.targets)
    targets.push_back(find_column(name, "target-column", front, has_header));
  find_columns(options.targets, "target-column", front, has_header);  // refuses one that is named twice
  if (targets.size() > 1 && kind == TargetKind::classes)
    base::user_error(
        "{}: --target-column names {} columns, but classes are in one; --target values makes a vector of them, "
        "--target labels takes each as 0 or 1",
        front.where, targets.size());
  if (!targets.empty()) return targets;
  if (kind == TargetKind::labels)
    base::user_error("{}: --target labels needs the columns of 0 and 1: --target-column NAME,NAME", front.where);
  for (std::size_t column = front.first.size(); has_header && column-- > 0;)
    if (is_target_name(front.first[column])) return {column};
  return {front.first.size() - 1};
}

bool has_unique_names(const std::vector<std::string>& names) {
  std::set<std::string_view> seen;
  return std::ranges::all_of(names, [&](const auto& name) { return !name.empty() && seen.insert(name).second; });
}

// How a user names the column in an option.
std::string option_name(const TableColumn& column) {
  return column.name.empty() || column.name.find(',') != std::string::npos ? std::to_string(column.place + 1)
                                                                           : column.name;
}

std::string place_text(const TableSummary& summary, const ColumnSummary::Seen& seen, const TableColumn& column) {
  return fmt::format("{}, line {}, {}", summary.where, seen.line, column_text(column));
}

void refuse_mixed(const TableSummary& summary, const ColumnSummary& has, const TableColumn& column) {
  if (has.decimal_commas.fields > 0) {
    const std::string text = shown(has.decimal_commas.text), place = place_text(summary, has.decimal_commas, column);
    if (summary.separator == ',')  // quoted: a comma for the fraction or between thousands
      base::user_error("{}: '{}' has a comma in it; write numbers as 1234.5, without marks between thousands", place,
                       text);
    std::string point = text;
    std::ranges::replace(point, ',', '.');
    base::user_error("{}: '{}' has a decimal comma; write {} (sed 's/,/./g' FILE > NEW where no text has commas)",
                     place, text, point);
  }
  if (has.kind() == ColumnSummary::Kind::mixed)
    base::user_error(
        "{}: '{}' is no number, as '{}' in line {} is; correct it, or take the column as words with "
        "--category-columns {}{}",
        place_text(summary, has.words, column), shown(has.words.text), shown(has.numbers.text), has.numbers.line,
        option_name(column),
        summary.has_header ? "" : "; if the first line is a header, rename columns that are called by a number");
}

void add_words(TableColumn& column, const TableSummary& summary, const ColumnSummary& has, bool is_declared) {
  const std::size_t words = has.counts.size();
  const bool too_many = has.has_many || has.has_long_text,
             like_text = !is_declared && words > kFewWords && 2 * static_cast<std::int64_t>(words) > summary.rows;
  if (too_many || like_text)
    base::user_error("{}, {}: {} different words in {} lines{}; leave the column out with --ignore-columns {}{}",
                     summary.where, column_text(column),
                     has.has_many ? fmt::format("more than {}", kMostWords) : std::to_string(words), summary.rows,
                     is_declared ? "" : ", as of names, dates or free text", option_name(column),
                     too_many ? "" : fmt::format(", or use it with --category-columns {}", option_name(column)));
  for (const auto& [word, count] : has.counts) {
    check_utf8(word, fmt::format("{}, {}", summary.where, column_text(column)));
    column.words.push_back(word);
  }
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> some(names.begin(),
                                names.begin() + static_cast<std::ptrdiff_t>(std::min(kListedColumns, names.size())));
  return base::join(some, ", ") + (names.size() > kListedColumns ? fmt::format(", ... ({})", names.size()) : "");
}

std::string name_in_note(const TableColumn& column) {
  return column.name.empty() ? fmt::format("column {}", column.place + 1) : fmt::format("'{}'", shown(column.name));
}

std::string separator_text(char separator) {
  if (separator == ' ') return "spaces";
  if (separator == '\t') return "tabs";
  return fmt::format("'{}'", separator);
}

}  // namespace

std::vector<std::string> expected_names(const TableFront& front, const TableOptions& options) {
  std::vector<std::string> names;
  for (const auto* list : {&options.targets, &options.ignored, &options.categories})
    names.insert(names.end(), list->begin(), list->end());
  std::ranges::copy_if(front.first, std::back_inserter(names), is_target_name);
  return names;
}

TableSchema schema_of_numbers(const TableFront& front, bool has_header, const TableOptions& options, TargetKind kind) {
  const std::size_t width = front.first.size();
  if (width < 2)
    base::user_error(
        "{}, line {}: one column; expected inputs and a target, separated by commas, semicolons, tabs "
        "or spaces",
        front.where, front.line);
  const std::vector<std::size_t> targets = find_targets(front, has_header, options, kind);
  const std::set<std::size_t> ignored = find_columns(options.ignored, "ignore-columns", front, has_header);
  if (has_header && front.first[0].empty() && !ignored.contains(0))
    base::user_error(
        "{}, line {}: column 1 has no name, like an index that pandas wrote; save with index=False, or "
        "leave it out with --ignore-columns 1",
        front.where, front.line);
  TableSchema schema;
  schema.width = static_cast<std::int64_t>(width);
  std::vector<std::string> names;
  const auto column = [&](std::size_t place) {
    TableColumn found{has_header ? front.first[place] : std::string(), static_cast<std::int64_t>(place), {}, {}};
    check_utf8(found.name, fmt::format("{}, line {}", front.where, front.line));
    names.push_back(found.name);
    return found;
  };
  for (const std::size_t target : targets) {
    if (ignored.contains(target))
      base::user_error(
          "{}: column {} is the target, --ignore-columns cannot leave it out; name another with "
          "--target-column",
          front.where, target + 1);
    schema.targets.push_back(column(target));
  }
  for (std::size_t place = 0; place < width; ++place)
    if (!ignored.contains(place) && std::ranges::find(targets, place) == targets.end())
      schema.inputs.push_back(column(place));
  for (const std::size_t place : ignored)
    if (has_header && is_utf8(front.first[place])) schema.ignored.push_back(front.first[place]);
  if (schema.inputs.empty())
    base::user_error("{}: no column is left as an input; {} columns are targets or ignored", front.where, width);
  schema.has_names = has_header && has_unique_names(names);
  return schema;
}

void complete_schema(TableSchema& schema, const TableSummary& summary, const TableOptions& options) {
  TableFront front{summary.where, {}, {}, 1, summary.separator};
  for (const ColumnSummary& column : summary.columns) front.first.push_back(column.name);
  const std::set<std::size_t> declared =
      find_columns(options.categories, "category-columns", front, summary.has_header);
  std::set<std::size_t> used;
  for (TableColumn& column : schema.inputs) {
    const auto place = static_cast<std::size_t>(column.place);
    used.insert(place);
    const ColumnSummary& has = summary.columns[place];
    const bool is_declared = declared.contains(place);
    if (has.kind() == ColumnSummary::Kind::empty)
      base::user_error("{}, {}: no line has a value; leave the column out with --ignore-columns {}", summary.where,
                       column_text(column), option_name(column));
    if (!is_declared) refuse_mixed(summary, has, column);
    if (is_declared || has.kind() == ColumnSummary::Kind::words) add_words(column, summary, has, is_declared);
    if (has.missing.fields > 0 && options.missing == MissingValues::refuse)
      base::user_error(
          "{}: the value is missing (in {} of {} lines); remove the lines, fill in values with --missing mean or "
          "zero, or leave the column out with --ignore-columns {}",
          place_text(summary, has.missing, column), has.missing.fields, summary.rows, option_name(column));
    if (options.missing != MissingValues::refuse) {
      const bool by_mean = column.words.empty() && options.missing == MissingValues::mean;
      column.fill = by_mean ? static_cast<float>(has.mean()) : 0.0f;
    }
  }
  for (const std::size_t place : declared)
    if (!used.contains(place))
      base::user_error("{}: --category-columns names column {}, which is a target or ignored; name inputs",
                       summary.where, place + 1);
}

std::vector<std::string> target_names(const TableSchema& schema, TargetKind kind) {
  std::vector<std::string> names;
  if (schema.has_names && (kind == TargetKind::labels || schema.targets.size() > 1))
    for (const TableColumn& target : schema.targets) names.push_back(target.name);
  return names;
}

std::string schema_text(const TableSchema& schema, const TableFront& front) {
  std::vector<std::string> targets, words;
  for (const TableColumn& column : schema.targets) targets.push_back(name_in_note(column));
  for (const TableColumn& column : schema.inputs)
    if (!column.words.empty()) words.push_back(name_in_note(column));
  const bool has_header = schema.has_names || !schema.targets[0].name.empty();
  std::string text =
      fmt::format("{} columns separated by {}, {}, target {}", schema.width, separator_text(front.separator),
                  has_header ? "a header" : "no header", names_text(targets));
  if (!words.empty()) text += ", words in " + names_text(words);
  const auto unused = schema.width - std::ssize(schema.inputs) - std::ssize(schema.targets);
  if (unused > 0) text += fmt::format(", {} ignored", unused);
  if (has_header && !schema.has_names) text += ", names that are not unique";
  return text + fmt::format(" -> {} inputs", input_values(schema));
}

}  // namespace trireme::data
