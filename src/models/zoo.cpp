#include "models/zoo.h"

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "models/layer_builder.h"
#include "ops/loss/loss.h"

namespace trireme::models {
namespace {

std::string shapes_text(std::span<const tensor::Shape> shapes) {
  std::vector<std::string> texts;
  for (const tensor::Shape& shape : shapes) texts.push_back(shape.text());
  return base::join(texts, ", ");
}

void check_inputs(const ModelInfo& model, std::span<const tensor::Shape> given) {
  bool fits = given.size() == model.inputs.size();
  for (std::size_t i = 0; fits && i < given.size(); ++i) fits = given[i].rank() == model.inputs[i].rank();
  if (fits) return;
  const bool one = model.inputs.size() == 1;
  base::user_error("model '{}' takes {} like {} (channels first; the sizes may differ), but the data gives {} ({})",
                   model.name, one ? "one input" : fmt::format("{} inputs", model.inputs.size()),
                   shapes_text(model.inputs), given.size() == 1 ? "one" : std::to_string(given.size()),
                   shapes_text(given));
}

ops::OpPtr loss_for(const std::string& target) {
  if (target == "classes") return ops::softmax_cross_entropy();
  if (target == "labels") return ops::sigmoid_cross_entropy();
  if (target == "values") return ops::squared_error();
  const std::string known[] = {"classes", "labels", "values"};
  base::user_error("{}", base::unknown_name("target", target, known));
}

}  // namespace

graph::Network build_model(std::string_view name, const ModelOptions& options) {
  const ModelRegistry models = builtin_models();
  return build_model(models.get(name), options);
}

graph::Network build_model(const ModelInfo& model, const ModelOptions& options) {
  const std::vector<tensor::Shape>& shapes = options.inputs.empty() ? model.inputs : options.inputs;
  check_inputs(model, shapes);
  if (options.classes < 0)
    base::user_error("model '{}' cannot have {} classes; give a positive number, or 0 for its own {}", model.name,
                     options.classes, model.classes);
  const ops::OpPtr loss = loss_for(options.target);

  graph::Network net(model.name);
  std::vector<graph::Value> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(net.input(shapes.size() == 1 ? "input" : fmt::format("input{}", i + 1), shapes[i]));
  LayerBuilder layers(net);
  net.finish(model.builder(layers, inputs, options.classes > 0 ? options.classes : model.classes), loss);
  return net;
}

}  // namespace trireme::models
