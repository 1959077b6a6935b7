#include "data/show/sheet_label.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text/text.h"

namespace trireme::data {
namespace {

std::string class_text(const DataSpec& spec, std::size_t number) {
  return number < spec.class_names.size() ? spec.class_names[number] : std::to_string(number);
}

}  // namespace

std::string label_text(const DataSpec& spec, std::span<const float> target) {
  if (spec.target == TargetKind::classes)
    return target[0] >= 0 ? class_text(spec, static_cast<std::size_t>(target[0])) : fmt::format("{}", target[0]);
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < target.size(); ++k) {
    if (spec.target == TargetKind::values)
      parts.push_back(fmt::format("{:.{}g}", target[k], std::abs(target[k]) < 1000 ? 3 : 6));
    else if (target[k] != 0)
      parts.push_back(class_text(spec, k));
  }
  return parts.empty() ? "none" : base::join(parts, ", ");
}

}  // namespace trireme::data
