#include "models/find_model.h"

#include <algorithm>

#include "base/text/text.h"

namespace trireme::models {
namespace {

bool is_count(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "hidden=256,128,dropout=0.1" -> "hidden=256x128,dropout=0.1": a Spec separates its options by commas.
std::string with_lists_joined(std::string_view options) {
  std::string joined;
  for (const std::string& part : base::split(options, ','))
    joined += (joined.empty() ? "" : is_count(part) ? "x" : ",") + part;
  return joined;
}

}  // namespace

std::string_view model_name(std::string_view text) { return text.substr(0, text.find(':')); }

bool knows_model(const ModelRegistry& models, std::string_view text) {
  return models.find(text) != nullptr || models.find(model_name(text)) != nullptr;
}

ModelRow find_model(const ModelRegistry& models, std::string_view text) {
  if (const ModelRow* row = models.find(text)) return *row;
  const std::string_view name = model_name(text);
  ModelRow row = models.get(name);
  row.name = name;
  if (const std::string options = with_lists_joined(text.substr(name.size() + 1)); !options.empty())
    row.name += ":" + options;
  base::Spec spec("model", row.name);
  if (row.configure) row.make = row.configure(spec, row.name);
  spec.finish();
  return row;
}

}  // namespace trireme::models
