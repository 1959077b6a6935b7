// Builds the network of a TOML document for the inputs and classes of given data. Thread-safe.
#pragma once

#include "models/files/toml_document.h"
#include "models/model.h"

namespace trireme::models {

// Mistakes are user errors with file, line, layer and the shapes of its inputs.
graph::Network build_toml_network(const TomlDocument& document, const ModelRequest& request);

}  // namespace trireme::models
