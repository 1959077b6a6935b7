#include "data/show/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/dataset/table_schema.h"
#include "data/readers/table/csv_values.h"

namespace trireme::data {
namespace {

constexpr std::size_t kShownWords = 6, kShownLength = 60;
using ColumnJson = nlohmann::ordered_json;

bool holds_place(const std::vector<TableColumn>& columns, std::size_t place) {
  return std::ranges::any_of(columns, [&](const auto& c) { return c.place == static_cast<std::int64_t>(place); });
}

const char* role_of(const TableSummary& summary, const DataSpec* spec, std::size_t place) {
  if (!spec) return "";
  if (!spec->schema) return place + 1 == summary.columns.size() ? "target" : "input";
  if (holds_place(spec->schema->targets, place)) return "target";
  return holds_place(spec->schema->inputs, place) ? "input" : "ignored";
}

// A column whose numbers are codes is one of words.
bool are_words(const ColumnSummary& column, const DataSpec* spec, std::size_t place) {
  if (column.kind() != ColumnSummary::Kind::numbers) return true;
  return spec && spec->schema && std::ranges::any_of(spec->schema->inputs, [&](const TableColumn& c) {
           return c.place == static_cast<std::int64_t>(place) && !c.words.empty();
         });
}

std::string words_text(const ColumnSummary& column) {
  if (column.has_many) return fmt::format("more than {} words", kMostWords);
  std::string text;
  std::size_t shown_words = 0;
  for (const auto& [word, count] : column.counts) {
    if (++shown_words > kShownWords || text.size() > kShownLength)
      return fmt::format("{}, ... ({} words)", text, column.counts.size());
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", shown(word), count);
  }
  return text;
}

}  // namespace

std::vector<std::string> column_lines(const TableSummary& summary, const DataSpec* spec) {
  std::size_t width = 4;
  for (const ColumnSummary& column : summary.columns) width = std::max(width, shown(column.name).size());
  std::vector<std::string> lines{fmt::format("{:>6}  {:<{}}  {:<7}  {:<17}  {:>7}  {}", "column",
                                             summary.has_header ? "name" : "", summary.has_header ? width : 0, "use",
                                             "kind", "missing", "values")};
  for (std::size_t k = 0; k < summary.columns.size(); ++k) {
    const ColumnSummary& column = summary.columns[k];
    const bool words = are_words(column, spec, k);
    const std::string values =
        words ? words_text(column)
              : fmt::format("{:.6g} ... {:.6g}, mean {:.6g}", column.min, column.max, column.mean());
    lines.push_back(
        fmt::format("{:>6}  {:<{}}  {:<7}  {:<17}  {:>7}  {}", k + 1, shown(column.name),
                    summary.has_header ? width : 0, role_of(summary, spec, k),
                    words && column.kind() == ColumnSummary::Kind::numbers ? "codes" : kind_text(column.kind()),
                    column.missing.fields, values));
  }
  return lines;
}

std::string columns_json(const TableSummary& summary, const DataSpec& spec) {
  ColumnJson all = ColumnJson::array();
  for (std::size_t k = 0; k < summary.columns.size(); ++k) {
    const ColumnSummary& column = summary.columns[k];
    ColumnJson json{{"column", k + 1},
                    {"name", column.name},
                    {"use", role_of(summary, &spec, k)},
                    {"kind", kind_text(column.kind())},
                    {"missing", column.missing.fields}};
    if (column.numbers.fields > 0) json.update({{"min", column.min}, {"max", column.max}, {"mean", column.mean()}});
    if (are_words(column, &spec, k)) json["words"] = column.counts;
    all.push_back(std::move(json));
  }
  return all.dump(-1, ' ', false, ColumnJson::error_handler_t::replace);
}

}  // namespace trireme::data
