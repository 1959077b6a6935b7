// Looks models up by text: a name of the registry, or a name with options ("mlp:hidden=256,128,dropout=0.1").
// All functions are thread-safe.
#pragma once

#include <string_view>

#include "models/zoo.h"

namespace trireme::models {

// The row of this model, with its options applied; its name is the text, lists written with x (hidden=256x128). An
// unknown name or option is a user error that suggests the nearest.
ModelRow find_model(const ModelRegistry& models, std::string_view text);

// True if the registry has the model that the text names; options are not read.
bool knows_model(const ModelRegistry& models, std::string_view text);

// "mlp" of "mlp:hidden=256".
std::string_view model_name(std::string_view text);

}  // namespace trireme::models
