#include "train/experiment/data_hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "data/dataset/table_schema.h"

namespace trireme::train {
namespace {

constexpr std::int64_t kManyClasses = 20;
// float32 keeps so few steps within a deviation: values are rounded where it can be seen.
constexpr double kFewestSteps = 100;

// The distance of neighbouring float32 numbers around a value.
double step_around(double value) {
  const double size = std::abs(value);
  const auto next =
      static_cast<double>(std::nextafter(static_cast<float>(size), std::numeric_limits<float>::infinity()));
  return next - static_cast<double>(static_cast<float>(size));
}

std::string name_of_input(const data::DataSpec& spec, std::size_t value) {
  if (!spec.schema) return fmt::format("column {}", value + 1);
  std::size_t first = 0;
  for (const data::TableColumn& column : spec.schema->inputs) {
    const std::size_t width = std::max<std::size_t>(column.words.size(), 1);
    if (value < first + width)
      return column.name.empty() ? fmt::format("column {}", column.place + 1) : fmt::format("column '{}'", column.name);
    first += width;
  }
  return fmt::format("input {}", value + 1);
}

void add_if_rounded(std::vector<std::string>& hints, const std::string& what, double mean, double deviation) {
  const double step = step_around(mean);
  if (step * kFewestSteps <= deviation || step < 1e-3) return;
  hints.push_back(
      fmt::format("{} has values around {:.4g}, which float32 keeps in steps of {:g} only; subtract a constant from it",
                  what, mean, step));
}

}  // namespace

std::vector<std::string> data_hints(const data::Dataset& training_set, const data::Normalization& normalization,
                                    const data::TargetScale& targets) {
  std::vector<std::string> hints;
  const data::DataSpec& spec = training_set.spec();
  if (spec.target == data::TargetKind::classes) {
    if (spec.classes == 1)
      base::user_error("all samples are of one class, so there is nothing to tell apart{}",
                       spec.class_names.empty() ? "" : fmt::format(": '{}'", spec.class_names[0]));
    if (spec.table && spec.classes > kManyClasses && 4 * spec.classes > training_set.size())
      hints.push_back(fmt::format("{} classes in {} samples: if these are numbers to be predicted, say --target values",
                                  spec.classes, training_set.size()));
  }
  if (spec.table && !normalization.inputs.empty()) {
    const data::InputNormalization& input = normalization.inputs[0];
    for (std::size_t i = 0; i < input.mean.size() && i < input.divisor.size(); ++i)
      add_if_rounded(hints, name_of_input(spec, i), static_cast<double>(input.mean[i]),
                     static_cast<double>(input.divisor[i]));
  }
  for (std::size_t k = 0; k < targets.mean.size(); ++k)
    add_if_rounded(hints, targets.mean.size() == 1 ? "the target" : fmt::format("target {}", k + 1), targets.mean[k],
                   targets.deviation[k]);
  return hints;
}

}  // namespace trireme::train
