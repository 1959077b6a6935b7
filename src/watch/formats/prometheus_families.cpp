#include "watch/formats/prometheus_families.h"

#include <fmt/core.h>

#include <cmath>

namespace trireme::watch {
namespace {

std::string escaped_label(std::string_view value) {
  std::string text;
  for (const char letter : value) {
    if (letter == '\n') {
      text += "\\n";
      continue;
    }
    if (letter == '\\' || letter == '"') text += '\\';
    text += letter;
  }
  return text;
}

}  // namespace

void PrometheusFamilies::add(const std::string& name, PrometheusType type, std::string_view help, const Labels& labels,
                             double value) {
  if (std::isnan(value)) return;
  Family& family = families_[name];
  family.type = type;
  family.help = help;
  family.samples += name;
  for (std::size_t i = 0; i < labels.size(); ++i)
    family.samples += fmt::format("{}{}=\"{}\"", i == 0 ? '{' : ',', labels[i].first, escaped_label(labels[i].second));
  if (!labels.empty()) family.samples += '}';
  if (std::isinf(value))
    family.samples += value > 0 ? " +Inf\n" : " -Inf\n";
  else
    family.samples += fmt::format(" {}\n", value);
}

std::string PrometheusFamilies::text() const {
  std::string text;
  for (const auto& [name, family] : families_)
    text += fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", name, family.help, name,
                        family.type == PrometheusType::counter ? "counter" : "gauge", family.samples);
  return text;
}

}  // namespace trireme::watch
