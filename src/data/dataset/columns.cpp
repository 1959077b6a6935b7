#include "data/dataset/columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace trireme::data {
namespace {

class ColumnSource : public Dataset {
 public:
  ColumnSource(DataSpec spec, Columns columns) : spec_(std::move(spec)), columns_(std::move(columns)) {
    base::check(columns_.inputs.size() == spec_.inputs.size(), "{} columns for {} inputs", columns_.inputs.size(),
                spec_.inputs.size());
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i)
      base::check(columns_.inputs[i].shape == spec_.inputs[i], "a column of {} for an input of {}",
                  columns_.inputs[i].shape.text(), spec_.inputs[i].text());
    for (const Column& column : columns_.inputs) bytes_.push_back(column.sample_bytes());
    base::check(columns_.target.shape.count() == target_floats(spec_), "targets of {} values, expected {}",
                columns_.target.shape.count(), target_floats(spec_));
  }

  const DataSpec& spec() const override { return spec_; }
  std::int64_t size() const override { return columns_.samples; }
  const Columns* columns() const override { return &columns_; }
  std::string origin(std::int64_t index) const override {
    return columns_.origins.empty() ? std::string() : columns_.origins[static_cast<std::size_t>(index)];
  }

  void fetch(std::int64_t index, const AugmentationSeed&, std::span<float* const> inputs,
             float* target) const override {
    base::check(index >= 0 && index < size(), "sample {} of {}", index, size());
    for (std::size_t i = 0; i < columns_.inputs.size(); ++i) to_floats(columns_.inputs[i], index, inputs[i]);
    to_floats(columns_.target, index, target);
  }

  bool view(std::int64_t index, std::span<StoredValues> inputs, float* target) const override {
    base::check(index >= 0 && index < size(), "sample {} of {}", index, size());
    for (std::size_t i = 0; i < columns_.inputs.size(); ++i)
      inputs[i] = {columns_.inputs[i].type, columns_.inputs[i].data + static_cast<std::size_t>(index) * bytes_[i]};
    to_floats(columns_.target, index, target);
    return true;
  }

 private:
  static void to_floats(const Column& column, std::int64_t index, float* to) {
    const std::byte* from = column.at(index);
    if (column.type == ValueType::real) {
      std::memcpy(to, from, column.sample_bytes());
      return;
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
    for (std::int64_t k = 0; k < column.shape.count(); ++k) to[k] = static_cast<float>(bytes[k]);
  }

  DataSpec spec_;
  Columns columns_;
  std::vector<std::size_t> bytes_;  // of one sample, per input
};

float value_of(const Column& column, std::int64_t sample, std::int64_t k) {
  const std::byte* from = column.at(sample) + static_cast<std::size_t>(k) * value_bytes(column.type);
  if (column.type == ValueType::byte) return static_cast<float>(*reinterpret_cast<const std::uint8_t*>(from));
  float value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

void check_targets(const DataSpec& spec, const Columns& columns, const std::string& where) {
  if (spec.target == TargetKind::values) return;
  if (columns.target.type == ValueType::byte) {  // fast path: returns when all targets are valid
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(columns.target.data);
    const std::int64_t labels = columns.samples * columns.target.shape.count();
    std::uint8_t most = 0;
    for (std::int64_t i = 0; i < labels; ++i) most = std::max(most, bytes[i]);
    if (most < (spec.target == TargetKind::classes ? spec.classes : 2)) return;
  }
  const auto classes = static_cast<float>(spec.classes);
  const bool one_of = spec.target == TargetKind::classes;
  for (std::int64_t n = 0; n < columns.samples; ++n)
    for (std::int64_t k = 0; k < columns.target.shape.count(); ++k) {
      const float value = value_of(columns.target, n, k);
      if (one_of && value != std::floor(value))
        base::user_error(
            "{}: the class {} of sample {} is no whole number; for numbers to be predicted ask for "
            "--target values",
            where, value, n);
      if (one_of && !(value >= 0 && value < classes && static_cast<float>(static_cast<std::int64_t>(value)) == value))
        base::user_error("{}: label {} of sample {} is out of range, expected 0 ... {}", where, value, n,
                         spec.classes - 1);
      if (!one_of && value != 0 && value != 1)
        base::user_error("{}: label {} of sample {} is {}, expected 0 or 1", where, k, n, value);
    }
}

DatasetPtr column_source(DataSpec spec, Columns columns) {
  return std::make_shared<ColumnSource>(std::move(spec), std::move(columns));
}

DatasetPtr source_without_targets(DataSpec spec, Columns columns) {
  struct Memory {
    std::shared_ptr<const void> inputs;
    std::vector<std::uint8_t> targets;
  };
  const std::int64_t length = target_floats(spec);
  const auto memory = std::make_shared<const Memory>(
      Memory{std::move(columns.memory), std::vector<std::uint8_t>(static_cast<std::size_t>(columns.samples * length))});
  columns.target = {{length}, ValueType::byte, column_data(memory->targets)};
  columns.memory = memory;
  return column_source(std::move(spec), std::move(columns));
}

DatasetPtr image_source(DataSpec spec, std::vector<std::uint8_t> pixels, std::vector<std::uint8_t> labels) {
  struct Memory {
    std::vector<std::uint8_t> pixels, labels;
  };
  base::check(spec.inputs.size() == 1 && spec.target == TargetKind::classes,
              "an image source has one input and classes");
  const auto memory = std::make_shared<const Memory>(Memory{std::move(pixels), std::move(labels)});
  Columns columns;
  columns.samples = static_cast<std::int64_t>(memory->labels.size());
  columns.inputs = {{spec.inputs[0], ValueType::byte, column_data(memory->pixels)}};
  columns.target = {{1}, ValueType::byte, column_data(memory->labels)};
  columns.memory = memory;
  base::check(memory->pixels.size() == memory->labels.size() * columns.inputs[0].sample_bytes(),
              "{} pixel bytes for {} labels of {} bytes each", memory->pixels.size(), memory->labels.size(),
              columns.inputs[0].sample_bytes());
  for (const std::uint8_t label : memory->labels)
    base::check(label < spec.classes, "label {} of {} classes", label, spec.classes);
  return column_source(std::move(spec), std::move(columns));
}

}  // namespace trireme::data
