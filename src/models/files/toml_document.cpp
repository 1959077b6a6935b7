#include "models/files/toml_document.h"

#include <toml++/toml.h>

#include <algorithm>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/nearest.h"
#include "models/init.h"

namespace trireme::models {

void TomlSource::fail(const toml::node& node, const std::string& sentence) const {
  base::user_error("{} line {}: {}", file, node.source().begin.line, sentence);
}

std::int64_t TomlSource::whole(const toml::node& node, const std::string& what, std::int64_t least,
                               std::int64_t most) const {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < least || *value > most)
    fail(node, fmt::format("{} must be a whole number from {} to {}", what, least, most));
  return *value;
}

std::string TomlSource::text(const toml::node& node, const std::string& what) const {
  const auto value = node.value_exact<std::string>();
  if (!value || value->empty()) fail(node, what + " must be a text");
  if (std::ranges::any_of(*value, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    fail(node, what + " has a line break or another control character in it");
  return *value;
}

void TomlSource::check_keys(const toml::table& table, const std::vector<std::string>& known) const {
  for (const auto& [key, node] : table)
    if (std::ranges::find(known, key.str()) == known.end()) fail(node, base::unknown_name("key", key.str(), known));
}

namespace {

void check_initialiser(const TomlSource& source, const toml::node& node) {
  const std::string style = source.text(node, "initialiser");
  const auto styles = init_styles();
  if (std::ranges::find(styles, style) == styles.end())
    source.fail(node, base::unknown_name("initialisation", style, styles));
}

// Inputs: a list of tables {name = "image", shape = [3, 32, 32]}; the shape is optional.
void read_inputs(TomlDocument& document, const toml::node& node) {
  const TomlSource& source = document.source;
  const toml::array* list = node.as_array();
  if (!list || list->empty()) source.fail(node, "'inputs' must be a list of tables such as {name = \"image\"}");
  for (const toml::node& each : *list) {
    const toml::table* table = each.as_table();
    if (!table || !table->contains("name")) source.fail(each, "an input is a table such as {name = \"image\"}");
    source.check_keys(*table, {"name", "shape"});
    TomlInput input{source.text(*table->get("name"), "name"), {}};
    if (const toml::node* shape = table->get("shape")) {
      const toml::array* sizes = shape->as_array();
      if (!sizes || sizes->empty()) source.fail(*shape, "'shape' must be a list of sizes such as [3, 32, 32]");
      std::vector<std::int64_t> all;
      for (const toml::node& size : *sizes) all.push_back(source.whole(size, "each of 'shape'", 1, 1 << 30));
      input.shape = tensor::Shape(std::move(all));
    }
    document.inputs.push_back(std::move(input));
  }
}

}  // namespace

TomlDocument read_toml_document(const ops::OpRegistry& ops, const std::string& text, const std::string& file) {
  TomlDocument document{ops, {file}, nullptr, "", {}};
  const TomlSource& source = document.source;
  try {
    document.table = std::make_shared<const toml::table>(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    base::user_error("{} line {}: {}", file, error.source().begin.line, error.description());
  }
  const toml::table& table = *document.table;
  source.check_keys(
      table, {"name", "summary", "batch", "classes", "oars", "initialiser", "inputs", "layers", "prediction", "loss"});
  document.name = base::fs::path(file).stem().string();
  if (const auto* node = table.get("name")) document.name = source.text(*node, "name");
  if (const auto* node = table.get("initialiser")) check_initialiser(source, *node);
  if (const auto* node = table.get("inputs")) read_inputs(document, *node);
  if (!table.get_as<toml::array>("layers"))
    base::user_error("{}: a network needs 'layers', a list such as [\"flatten\", \"dense:outputs=classes\"]", file);
  return document;
}

}  // namespace trireme::models
