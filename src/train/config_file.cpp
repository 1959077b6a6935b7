// Configuration from files: TOML with the option names as keys (tables only group), or a run.json.
#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "base/error.h"
#include "base/files.h"
#include "train/experiment.h"

namespace trireme::train {
namespace {

void set_unless_given(base::Settings& settings, const std::string& name, const std::string& value,
                      const std::string& path) {
  if (!settings.is_set(name)) settings.set(name, value, path);
}

void read_table(base::Settings& settings, const toml::table& table, const std::string& path) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (const auto* inner = node.as_table()) {
      read_table(settings, *inner, path);
    } else if (const auto text = node.value_exact<std::string>()) {
      set_unless_given(settings, name, *text, path);
    } else if (const auto flag = node.value_exact<bool>()) {
      set_unless_given(settings, name, *flag ? "yes" : "no", path);
    } else if (const auto whole = node.value_exact<std::int64_t>()) {
      set_unless_given(settings, name, std::to_string(*whole), path);
    } else if (const auto real = node.value_exact<double>()) {
      set_unless_given(settings, name, fmt::format("{}", *real), path);
    } else {
      base::user_error("{}: '{}' must be a text, a number or true/false", path, name);
    }
  }
}

void read_run_json(base::Settings& settings, const std::string& text, const std::string& path) {
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    base::user_error("{} is not valid JSON: {}", path, error.what());
  }
  if (!json.is_object() || !json.contains("configuration") || !json["configuration"].is_object())
    base::user_error("{} has no object 'configuration'; a run.json was expected", path);
  for (const auto& [name, value] : json["configuration"].items()) {
    if (!value.is_string()) base::user_error("{}: configuration '{}' must be a text", path, name);
    // What says where a run lies is not taken over from another run.
    if (name == "run" || name == "resume" || name == "config" || name == "json" || name == "quiet") continue;
    set_unless_given(settings, name, value.get<std::string>(), path);
  }
}

}  // namespace

void read_config(base::Settings& settings, const std::string& path) {
  const std::string text = base::read_text(path);
  if (path.ends_with(".json")) return read_run_json(settings, text, path);
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    base::user_error("{} line {}: {}", path, error.source().begin.line, error.description());
  }
  read_table(settings, table, path);
}

}  // namespace trireme::train
