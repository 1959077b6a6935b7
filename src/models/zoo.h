// The zoo: every network Trireme knows by name, with the input shapes, classes and batch of the studies it comes from.
//
//   graph::Network net = models::build_model("lenet5", {.inputs = {{1, 28, 28}}, .classes = 10});
//
// All functions may be called from any thread.
#pragma once

#include <string_view>

#include "base/text/registry.h"
#include "models/model.h"

namespace trireme::models {

using ModelRegistry = base::RegistryOf<ModelRow>;
// The zoo, in the order in which it is listed to people.
ModelRegistry builtin_models();
// Whether the zoo has a model of this name, rather than a user's own program.
bool is_in_zoo(std::string_view name);

// A request, or a network made for it, that does not fit is a user error.
graph::Network build_model(const ModelRow& model, const ModelRequest& request = {});
// One of the zoo; an unknown name is a user error that suggests the nearest.
graph::Network build_model(std::string_view name, const ModelRequest& request = {});

}  // namespace trireme::models
