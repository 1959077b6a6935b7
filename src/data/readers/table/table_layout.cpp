#include "data/readers/table/table_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/text.h"
#include "data/readers/table/csv_values.h"

namespace trireme::data {
namespace {

using Names = std::vector<std::string>;

bool has_name(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

Names names_in(const TableSchema& schema) {
  Names names;
  if (!schema.has_names) return names;
  for (const auto* columns : {&schema.inputs, &schema.targets})
    for (const TableColumn& column : *columns) names.push_back(column.name);
  return names;
}

// The places of the columns that the header names; names that it lacks are added to `missing`.
std::vector<std::size_t> places_by_name(const std::vector<TableColumn>& columns, const TableFront& front,
                                        Names& missing) {
  std::vector<std::size_t> places;
  for (const TableColumn& column : columns) {
    const auto at = std::ranges::find(front.first, column.name);
    if (at == front.first.end()) {
      missing.push_back(column.name);
      continue;
    }
    if (std::find(at + 1, front.first.end(), column.name) != front.first.end())
      base::user_error("{}, line {}: two columns are called '{}'; rename one", front.where, front.line,
                       shown(column.name));
    places.push_back(static_cast<std::size_t>(at - front.first.begin()));
  }
  return places;
}

void lay_out_by_name(const TableSchema& schema, const TableFront& front, const std::string& table,
                     TableLayout& layout) {
  Names missing, missing_targets;
  layout.inputs = places_by_name(schema.inputs, front, missing);
  layout.targets = places_by_name(schema.targets, front, missing_targets);
  if (!missing.empty())
    base::user_error("{} lacks {} that {} has: {}; its columns are {}", front.where,
                     missing.size() == 1 ? "a column" : "columns", table, shown_list(missing), shown_list(front.first));
  if (!missing_targets.empty()) layout.targets.clear();
  Names known = names_in(schema);
  known.insert(known.end(), schema.ignored.begin(), schema.ignored.end());
  Names extra;
  for (const std::string& name : front.first)
    if (!has_name(known, name)) extra.push_back(name);
  if (!extra.empty())
    layout.notes.push_back(fmt::format("{}: {} that {} does not use ignored: {}", front.where,
                                       extra.size() == 1 ? "a column" : "columns", table, shown_list(extra)));
}

// The file has all columns, or lacks the targets, or has the inputs alone.
void lay_out_by_place(const TableSchema& schema, const TableFront& front, const std::string& table,
                      TableLayout& layout) {
  const auto width = static_cast<std::int64_t>(layout.width);
  const bool whole = width == schema.width, without_targets = width == schema.width - std::ssize(schema.targets);
  if (!whole && !without_targets && width != std::ssize(schema.inputs))
    base::user_error("{} has {} columns, but {} has {} columns, {} of them inputs", front.where, width, table,
                     schema.width, schema.inputs.size());
  for (std::size_t k = 0; k < schema.inputs.size(); ++k) {
    const std::int64_t place = schema.inputs[k].place;
    const auto before = std::ranges::count_if(schema.targets, [&](const auto& t) { return t.place < place; });
    layout.inputs.push_back(whole             ? static_cast<std::size_t>(place)
                            : without_targets ? static_cast<std::size_t>(place - before)
                                              : k);
  }
  if (whole)
    for (const TableColumn& target : schema.targets) layout.targets.push_back(static_cast<std::size_t>(target.place));
}

}  // namespace

TableFront read_front(const TableFile& file) {
  UnpackedReader reader = file.open();
  CsvRecords records(reader);
  TableFront front;
  front.where = file.path.string();
  CsvFields fields;
  if (!records.next(fields)) base::user_error("{} is empty; expected a table", front.where);
  front.first.assign(fields.begin(), fields.end());
  front.line = records.line();
  if (front.first[0].starts_with("\xff\xfe") || front.first[0].starts_with("\xfe\xff"))
    base::user_error("{} is UTF-16 text; convert it: iconv -f utf16 -t utf8 FILE > NEW", front.where);
  front.separator = records.separator();
  if (records.next(fields)) front.second.assign(fields.begin(), fields.end());
  return front;
}

HeaderFound find_header(const TableFront& front, const std::vector<std::string>& known_names) {
  float ignored;
  const auto is_number = [&](const std::string& field) { return parse_number(field, ignored); };
  // Na is sodium, as in the header of a table of glasses.
  const auto is_value = [&](const std::string& field) {
    return is_number(field) || (!field.empty() && field != "Na" && is_missing_number(field));
  };
  const auto is_empty = [](const std::string& field) { return field.empty(); };
  if (std::ranges::any_of(front.first, is_value) || std::ranges::all_of(front.first, is_empty)) return HeaderFound::no;
  const auto is_known = [&](const std::string& field) { return has_name(known_names, field); };
  if (std::ranges::any_of(front.first, is_known) || std::ranges::any_of(front.second, is_number))
    return HeaderFound::yes;
  return HeaderFound::unsure;
}

TableLayout lay_out(const TableSchema& schema, const TableFront& front, const std::string& table) {
  TableLayout layout;
  layout.width = front.first.size();
  const HeaderFound found = find_header(front, names_in(schema));
  // Words above words, none of which is a name of the schema, are data.
  layout.has_header = found == HeaderFound::yes;
  if (layout.has_header && schema.has_names)
    lay_out_by_name(schema, front, table, layout);
  else
    lay_out_by_place(schema, front, table, layout);
  return layout;
}

}  // namespace trireme::data
