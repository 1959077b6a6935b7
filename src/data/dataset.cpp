#include "data/dataset.h"

#include <fmt/core.h>

namespace trireme::data {

std::int64_t target_floats(const DataSpec& spec) { return spec.target == TargetKind::classes ? 1 : spec.classes; }

std::string spec_text(const DataSpec& spec) {
  std::string inputs;
  for (const tensor::Shape& shape : spec.inputs) inputs += (inputs.empty() ? "" : " + ") + shape.text();
  const char* kind = spec.target == TargetKind::classes  ? "classes"
                     : spec.target == TargetKind::labels ? "labels"
                                                         : "values";
  return fmt::format("{} -> {} {}", inputs, spec.classes, kind);
}

}  // namespace trireme::data
