#include "models/files/toml_model.h"

#include <toml++/toml.h>

#include <algorithm>
#include <memory>

#include "models/files/toml_builder.h"

namespace trireme::models {

ModelRow toml_model(const ops::OpRegistry& ops, const std::string& text, const std::string& file) {
  const auto document = std::make_shared<const TomlDocument>(read_toml_document(ops, text, file));
  const TomlSource& source = document->source;
  const toml::table& table = *document->table;
  ModelRow row;
  row.name = document->name;
  row.summary = table.contains("summary") ? source.text(*table.get("summary"), "summary") : "the network of " + file;
  if (const auto* node = table.get("batch")) row.batch = source.whole(*node, "batch", 1, std::int64_t{1} << 40);
  if (const auto* node = table.get("classes")) row.classes = source.whole(*node, "classes", 1, 1 << 30);
  for (const TomlInput& input : document->inputs) row.inputs.push_back(input.shape);
  if (std::ranges::any_of(row.inputs, [](const tensor::Shape& shape) { return shape.rank() == 0; })) row.inputs = {};
  row.make = [document](const ModelRequest& request) { return build_toml_network(*document, request); };
  return row;
}

}  // namespace trireme::models
