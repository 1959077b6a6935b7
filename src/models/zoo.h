// The zoo: all networks that Trireme knows by name, with the input shapes, classes and batch of the studies they come
// from.
//
//   graph::Network net = models::build_model("lenet5", {.inputs = {{1, 28, 28}}, .classes = 10});
//
// All functions are thread-safe.
#pragma once

#include <string_view>

#include "base/text/registry.h"
#include "models/model.h"

namespace trireme::models {

using ModelRegistry = base::RegistryOf<ModelRow>;
// The zoo, in the order in which lists show it.
ModelRegistry builtin_models();
// True if the model (also with options) is the zoo's, false if a user's own program has added it.
bool is_in_zoo(std::string_view name);

// User error if the request, or the network made for it, does not fit.
graph::Network build_model(const ModelRow& model, const ModelRequest& request = {});
// Builds a model of the zoo, by its name or with options; an unknown name is a user error that suggests the nearest.
graph::Network build_model(std::string_view name, const ModelRequest& request = {});

}  // namespace trireme::models
