#include "data/show/sheet_label.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text/text.h"
#include "data/show/glyphs.h"

namespace trireme::data {
namespace {

std::string class_text(const DataSpec& spec, std::size_t number) {
  return number < spec.class_names.size() ? spec.class_names[number] : std::to_string(number);
}

// The number of characters of the text that go into a line of `width`.
std::size_t line_end(std::string_view text, std::size_t width) {
  if (text.size() <= width) return text.size();
  const std::size_t place = text.substr(0, width).find_last_of(" ,;/_-");
  return place == std::string_view::npos || place == 0 ? width : place + 1;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string label_text(const DataSpec& spec, std::span<const float> target) {
  if (spec.target == TargetKind::classes)
    return target[0] >= 0 ? class_text(spec, static_cast<std::size_t>(target[0])) : fmt::format("{}", target[0]);
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < target.size(); ++k) {
    if (spec.target == TargetKind::values)
      parts.push_back(fmt::format("{:.3g}", target[k]));
    else if (target[k] != 0)
      parts.push_back(class_text(spec, k));
  }
  return parts.empty() ? "none" : base::join(parts, ", ");
}

std::vector<std::string> label_lines(const std::string& label, std::size_t width, std::size_t lines) {
  const std::string ascii = drawable(label);
  std::string_view rest = trimmed(ascii);
  std::vector<std::string> made;
  while (!rest.empty() && made.size() < lines) {
    const bool is_last = made.size() + 1 == lines;
    if (is_last && rest.size() > width) {
      made.emplace_back(std::string(rest.substr(0, width - 2)) + "..");
      break;
    }
    const std::size_t end = line_end(rest, width);
    made.emplace_back(trimmed(rest.substr(0, end)));
    rest = trimmed(rest.substr(end));
  }
  return made;
}

}  // namespace trireme::data
