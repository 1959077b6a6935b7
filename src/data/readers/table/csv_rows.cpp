#include "data/readers/table/csv_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "data/readers/table/csv_values.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kMaxValues = std::int64_t{1} << 31;

class RowReader {
 public:
  RowReader(const TableSchema& schema, const TableLayout& layout, TargetKind target, bool only_numbers)
      : schema_(schema),
        layout_(layout),
        target_(target),
        only_numbers_(only_numbers),
        values_(input_values(schema) + std::ssize(layout.targets)) {}

  // Nothing if only numbers are wanted and something else was found.
  std::optional<CsvRows> read(const TableFile& file) {
    UnpackedReader reader = file.open();
    CsvRecords records(reader);
    rows_.where = file.path.string();
    CsvFields fields;
    for (bool first = true; records.next(fields); first = false) {
      line_ = records.line();
      if (first && layout_.has_header) continue;
      if (!add(fields)) return {};
    }
    if (rows_.samples == 0) base::user_error("{} has a header line but no samples", rows_.where);
    if (target_ == TargetKind::classes && !layout_.targets.empty()) {
      classes_.check_one_kind(rows_.where, layout_.targets[0]);
      rows_.classes = std::move(classes_.names());
    }
    return std::move(rows_);
  }

 private:
  bool add(const CsvFields& fields) {
    if (fields.size() != layout_.width)
      base::user_error("{}, line {}: {} columns, the lines before have {}", rows_.where, line_, fields.size(),
                       layout_.width);
    if ((rows_.samples + 1) * values_ > kMaxValues)
      base::user_error("{}, line {}: more than {} values; save so large a table as .npz", rows_.where, line_,
                       kMaxValues);
    for (std::size_t k = 0; k < layout_.inputs.size(); ++k) {
      const std::string_view field = fields[layout_.inputs[k]];
      float value;
      if (schema_.inputs[k].words.empty() && parse_number(field, value))
        store(value);
      else if (only_numbers_)
        return false;
      else
        add_other(field, k);
    }
    for (std::size_t k = 0; k < layout_.targets.size(); ++k)
      rows_.targets.push_back(target(fields[layout_.targets[k]], k));
    ++rows_.samples;
    return true;
  }

  // A word, or a missing value.
  void add_other(std::string_view field, std::size_t k) {
    const TableColumn& column = schema_.inputs[k];
    const bool are_numbers = column.words.empty();
    const bool missing = are_numbers ? is_missing_number(field) : is_missing(field);
    if (missing && !column.fill)
      base::user_error("{}: the value is missing; remove the line or fill it in", place(column, layout_.inputs[k]));
    if (are_numbers) {
      if (!missing) base::user_error("{}: '{}' is no number", place(column, layout_.inputs[k]), shown(field));
      return store(*column.fill);
    }
    const auto known = std::ranges::lower_bound(column.words, field);
    if (!missing && (known == column.words.end() || *known != field))
      base::user_error("{}: the word '{}' is not in the training table, which has {}", place(column, layout_.inputs[k]),
                       shown(field), shown_list(column.words));
    for (auto word = column.words.begin(); word != column.words.end(); ++word)
      store(!missing && word == known ? 1.0f : 0.0f);
  }

  float target(std::string_view field, std::size_t k) {
    const std::size_t place_here = layout_.targets[k];
    if (target_ == TargetKind::classes)
      return static_cast<float>(classes_.index(field, rows_.where, line_, place_here));
    float value;
    const TableColumn& column = schema_.targets[k];
    if (target_ == TargetKind::labels)
      if (const std::string word = lower(field); word == "true" || word == "false") return word == "true" ? 1.0f : 0.0f;
    if (!parse_number(field, value))
      base::user_error("{}: {}", place(column, place_here),
                       is_missing_number(field) ? "the value is missing; remove the line or fill it in"
                                                : "'" + shown(field) + "' is no number");
    if (target_ == TargetKind::labels && value != 0 && value != 1)
      base::user_error("{}: the label is '{}', expected 0 or 1, false or true", place(column, place_here),
                       shown(field));
    return value;
  }

  std::string place(const TableColumn& column, std::size_t place_here) const {
    TableColumn here = column;
    here.place = static_cast<std::int64_t>(place_here);
    return fmt::format("{}, line {}, {}", rows_.where, line_, column_text(here));
  }

  void store(float value) {
    if (rows_.type == ValueType::byte && !store_byte(value)) leave_bytes();
    if (rows_.type == ValueType::real) rows_.reals.push_back(value);
  }

  bool store_byte(float value) {
    if (!(value >= 0 && value <= 255) || value != std::trunc(value) || std::signbit(value)) return false;
    rows_.bytes.push_back(static_cast<std::uint8_t>(value));
    return true;
  }

  // Called for the first value that is not a byte: converts all values so far to floats.
  void leave_bytes() {
    rows_.type = ValueType::real;
    rows_.reals.assign(rows_.bytes.begin(), rows_.bytes.end());
    rows_.bytes = {};
  }

  const TableSchema& schema_;
  const TableLayout& layout_;
  TargetKind target_;
  bool only_numbers_;
  std::int64_t values_;  // per row
  std::int64_t line_ = 0;
  CsvRows rows_;
  CsvClasses classes_;
};

}  // namespace

CsvRows read_rows(const TableFile& file, const TableSchema& schema, const TableLayout& layout, TargetKind target) {
  return std::move(RowReader(schema, layout, target, false).read(file)).value();
}

std::optional<CsvRows> read_numbers(const TableFile& file, const TableSchema& schema, const TableLayout& layout,
                                    TargetKind target) {
  return RowReader(schema, layout, target, true).read(file);
}

}  // namespace trireme::data
