// The zoo: all networks that Trireme knows by name, with the input shapes, classes and batch of the studies they come
// from.
//
//   graph::Network net = models::build_model("lenet5", {.inputs = {{1, 28, 28}}, .classes = 10});
//
// All functions are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/registry.h"
#include "graph/network.h"
#include "tensor/shape.h"

namespace trireme::models {

class LayerBuilder;

struct ModelOptions {
  std::vector<tensor::Shape> inputs{};  // per sample; empty: the model's default
  std::int64_t classes = 0;             // outputs of the last layer; 0: the model's default
  // The kind of target: "classes" (softmax and cross-entropy over class indices), "labels" (sigmoid and cross-entropy,
  // any number of labels per sample) or "values" (squared error).
  std::string target = "classes";
};

// Adds a model's layers on the given inputs and returns its prediction (logits or values, not probabilities).
using Builder =
    std::function<graph::Value(LayerBuilder& layers, std::span<const graph::Value> inputs, std::int64_t classes)>;

struct ModelInfo {
  std::string name;
  std::string description;
  std::vector<tensor::Shape> inputs;  // per sample; other sizes are allowed, other numbers or ranks of inputs are not
  std::int64_t classes = 0;
  std::int64_t batch = 0;  // the studies' global batch
  Builder builder;
};

using ModelRegistry = base::RegistryOf<ModelInfo>;
// The zoo, in the order in which lists show it.
ModelRegistry builtin_models();

graph::Network build_model(const ModelInfo& model, const ModelOptions& options = {});
// Builds a model of the zoo; an unknown name is a user error that suggests the nearest.
graph::Network build_model(std::string_view name, const ModelOptions& options = {});

}  // namespace trireme::models
