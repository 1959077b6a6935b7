// TomlModel: a network as people write it: a list of layers in TOML. It becomes a Network for the inputs and classes of
// given data.
// Immutable, so thread-safe.
#pragma once

#include <string>

#include "models/model.h"
#include "ops/core/op_registry.h"

namespace trireme::models {

// The model of a TOML text; the row keeps what it needs.
ModelRow toml_model(const ops::OpRegistry& ops, const std::string& text, const std::string& file);

}  // namespace trireme::models
