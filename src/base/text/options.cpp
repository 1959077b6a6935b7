#include "base/text/options.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/text/foreign_options.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::base {

Settings::Settings(std::span<const OptionSpec> table) : table_(table) {
  for (const OptionSpec& option : table) defaults_[option.name] = option.otherwise;
}

void Settings::set(const std::string& name, const std::string& value, const std::string& where) {
  if (!defaults_.contains(name)) {
    std::vector<std::string> names;
    for (const auto& [known, ignored] : defaults_) names.push_back(known);
    const std::string near = nearest_name(name, names);
    const auto shown = [&](const std::string& option) { return where.empty() ? "--" + option : "'" + option + "'"; };
    const std::string place = where.empty() ? "there is no option" : where + " has no option";
    const std::string hint =
        foreign_option_hint(name, [this](const std::string& option) { return defaults_.contains(option); });
    if (!hint.empty()) user_error("{} {}; {}", place, shown(name), hint);
    if (near.empty()) user_error("{} {}; see --help for all of them", place, shown(name));
    user_error("{} {}; did you mean {}?", place, shown(name), shown(near));
  }
  given_[name] = value;
  if (where.empty())
    where_.erase(name);
  else
    where_[name] = where;
}

std::string Settings::label(const std::string& name) const {
  const auto found = where_.find(name);
  return found == where_.end() ? "--" + name : fmt::format("--{} (from {})", name, found->second);
}

const std::string& Settings::text(const std::string& name) const {
  if (const auto found = given_.find(name); found != given_.end()) return found->second;
  const auto found = defaults_.find(name);
  check(found != defaults_.end(), "option '{}' is not in the table", name);
  return found->second;
}

std::int64_t Settings::integer(const std::string& name, std::int64_t least, std::int64_t most) const {
  const std::int64_t value = parse_int(label(name), text(name));
  if (value < least || value > most) user_error("{} is {}, expected {} ... {}", label(name), value, least, most);
  return value;
}

double Settings::number(const std::string& name) const { return parse_double(label(name), text(name)); }

bool Settings::flag(const std::string& name) const {
  const std::string& value = text(name);
  if (value == "yes" || value == "true" || value == "1") return true;
  if (value == "no" || value == "false" || value == "0") return false;
  user_error("{} is '{}', expected yes or no", label(name), value);
}

const std::string& Settings::choice(const std::string& name, std::span<const std::string> words) const {
  const std::string& value = text(name);
  for (const std::string& word : words)
    if (word == value) return value;
  const std::string near = nearest_name(value, words);
  user_error("{} is '{}', expected {}{}", label(name), value, join_or(words),
             near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
}

std::map<std::string, std::string> Settings::all() const {
  std::map<std::string, std::string> values = defaults_;
  for (const auto& [name, value] : given_) values[name] = value;
  return values;
}

}  // namespace trireme::base
