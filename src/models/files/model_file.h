// Networks in files: NAME.toml, written by people, and NAME.json, the description that run folders hold
// (graph/description/network_json.h). docs/network_files.md has both formats.
// Thread-safe.
#pragma once

#include <string>

#include "models/model.h"
#include "ops/core/op_registry.h"

namespace trireme::models {

// True if --model NAME means a file: it ends in .toml or .json, or has a '/'.
bool is_model_file(const std::string& name);

// The model that the text of a file describes. `file` names it in errors; its ending tells the format. Mistakes are
// user errors with the place: here, or in the row's `make` where they depend on the data.
ModelRow model_from_text(const ops::OpRegistry& ops, const std::string& text, const std::string& file);

// The same in TOML, for people to go on from. REQUIRES: `network` is what `model` makes for `request`.
std::string model_toml(const ModelRow& model, const ModelRequest& request, const graph::Network& network);

}  // namespace trireme::models
