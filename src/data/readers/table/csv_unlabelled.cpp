#include "data/readers/table/csv_unlabelled.h"

#include <utility>

#include "data/codecs/decompress.h"
#include "data/dataset/columns.h"
#include "data/readers/table/csv_lines.h"
#include "data/readers/table/csv_rows.h"

namespace trireme::data {
namespace {

std::int64_t count_columns(const DataRequest& request) {
  UnpackedReader reader(request.codecs, request.name);
  CsvLines lines(reader);
  std::string_view line;
  std::vector<std::string_view> fields;
  if (lines.next(line)) split_fields(line, find_separator(line), fields);
  return static_cast<std::int64_t>(fields.size());
}

}  // namespace

std::optional<DataPair> open_unlabelled_table(const DataRequest& request) {
  if (request.wanted_inputs.size() != 1) return {};
  const tensor::Shape& shape = request.wanted_inputs[0];
  if (count_columns(request) != shape.count()) return {};
  UnpackedReader reader(request.codecs, request.name);
  const auto rows = std::make_shared<const CsvRows>(read_rows(reader, TargetKind::values, shape.count()));
  if (!rows->targets.empty()) return {};  // the header names one: a column is missing
  Columns columns{rows->samples, {}, {}, rows};
  columns.inputs = {
      {shape, rows->type, rows->type == ValueType::byte ? column_data(rows->bytes) : column_data(rows->reals)}};
  const DatasetPtr samples = source_without_targets(
      {request.wanted_inputs, request.wanted_target, request.wanted_classes, {}}, std::move(columns));
  return DataPair{samples, samples, {}};
}

}  // namespace trireme::data
