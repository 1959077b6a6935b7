#include "cli/config_file.h"

#include <toml++/toml.h>

#include "base/error.h"
#include "base/system/files.h"
#include "train/run_folder/run_folder.h"

namespace trireme::cli {
namespace {

// The value as the command line would give it. TOML tables only group options.
std::string text_of(const toml::node& node, const std::string& name, const std::string& path) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag ? "yes" : "no";
  if (const auto whole = node.value_exact<std::int64_t>()) return std::to_string(*whole);
  if (const auto real = node.value_exact<double>()) return fmt::format("{}", *real);
  base::user_error("{}: '{}' must be a text, a number or true/false", path, name);
}

void read_table(base::Settings& settings, const toml::table& table, const std::string& path) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (const auto* inner = node.as_table())
      read_table(settings, *inner, path);
    else if (name == "config")
      base::user_error("{}: 'config' cannot be in a configuration file", path);
    else if (!settings.is_set(name))
      settings.set(name, text_of(node, name, path), path);
  }
}

}  // namespace

void read_config(base::Settings& settings, const std::string& path) {
  if (path.ends_with(".json")) return train::read_configuration(settings, path);
  toml::table table;
  try {
    table = toml::parse(base::read_text(path), path);
  } catch (const toml::parse_error& error) {
    base::user_error("{} line {}: {}", path, error.source().begin.line, error.description());
  }
  read_table(settings, table, path);
}

}  // namespace trireme::cli
