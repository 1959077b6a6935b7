#include "data/readers/table/csv_unlabelled.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/dataset/columns.h"
#include "data/dataset/table_schema.h"
#include "data/readers/table/csv_rows.h"
#include "data/readers/table/csv_values.h"
#include "data/readers/table/find_schema.h"

namespace trireme::data {
namespace {

// Numbers without names, as many as the network takes.
TableSchema plain_schema(std::int64_t inputs) {
  TableSchema schema{inputs + 1, false, {}, {{.place = inputs}}};
  for (std::int64_t place = 0; place < inputs; ++place) schema.inputs.push_back({.place = place});
  return schema;
}

}  // namespace

std::optional<DataPair> open_unlabelled_table(const DataRequest& request) {
  if (request.wanted_inputs.size() != 1) return {};
  const tensor::Shape& shape = request.wanted_inputs[0];
  const TableFile file{request.codecs, request.name};
  const TableFront front = read_front(file);
  if (!request.schema && std::ssize(front.first) != shape.count()) return {};
  // The header names a target: an input is missing.
  if (!request.schema && find_header(front, {}) == HeaderFound::yes && !expected_names(front, {}).empty()) return {};
  const TableSchema schema = request.schema ? *request.schema : plain_schema(shape.count());
  if (input_values(schema) != shape.count())
    base::user_error("{} becomes {} inputs, but the network takes {}", request.name, input_values(schema),
                     shape.text());
  TableLayout layout = lay_out(schema, front, "the run's training table");
  const std::vector<std::string>& first = layout.has_header ? front.second : front.first;
  const auto is_blank = [&](std::size_t place) { return place < first.size() && is_missing(first[place]); };
  if (!layout.targets.empty() && std::ranges::all_of(layout.targets, is_blank)) {  // a form to be filled in
    layout.targets.clear();
    layout.notes.push_back("the target column is empty in the first line, so it is not read");
  }
  if (!layout.targets.empty()) return {};
  const auto rows = std::make_shared<const CsvRows>(read_rows(file, schema, layout, TargetKind::values));
  Columns columns{rows->samples, {}, {}, rows};
  columns.inputs = {
      {shape, rows->type, rows->type == ValueType::byte ? column_data(rows->bytes) : column_data(rows->reals)}};
  const DatasetPtr samples =
      source_without_targets({request.wanted_inputs, request.wanted_target, request.wanted_classes,
                              target_names(schema, request.wanted_target)},
                             std::move(columns));
  return DataPair{samples, samples, layout.notes};
}

}  // namespace trireme::data
