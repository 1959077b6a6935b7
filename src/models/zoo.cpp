#include "models/zoo.h"

#include <stdexcept>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "models/find_model.h"
#include "ops/loss/loss.h"

namespace trireme::models {
namespace {

std::string shapes_text(std::span<const tensor::Shape> shapes) {
  std::vector<std::string> texts;
  for (const tensor::Shape& shape : shapes) texts.push_back(shape.text());
  return base::join(texts, ", ");
}

void check_inputs(const ModelRow& model, std::span<const tensor::Shape> given) {
  if (model.inputs.empty() && !given.empty()) return;
  if (model.inputs.empty())
    base::user_error("model '{}' does not say the shapes of its inputs; name data, or give each input a shape",
                     model.name);
  bool fits = given.size() == model.inputs.size();
  for (std::size_t i = 0; fits && i < given.size(); ++i) fits = given[i].rank() == model.inputs[i].rank();
  if (fits) return;
  if (model.any_shape && given.size() != 1)
    base::user_error("model '{}' takes one input of any shape, but the data gives {} ({})", model.name, given.size(),
                     shapes_text(given));
  if (model.any_shape && given[0].rank() > 0) return;
  const bool one = model.inputs.size() == 1;
  base::user_error("model '{}' takes {} like {} (channels first; the sizes may differ), but the data gives {} ({})",
                   model.name, one ? "one input" : fmt::format("{} inputs", model.inputs.size()),
                   shapes_text(model.inputs), given.size() == 1 ? "one" : std::to_string(given.size()),
                   shapes_text(given));
}

// The function of a row may be a user's.
graph::Network make(const ModelRow& model, const ModelRequest& request) {
  try {
    return model.make(request);
  } catch (const base::Error&) {
    throw;
  } catch (const std::logic_error& error) {
    base::user_error("model '{}' cannot be made for the inputs {} and {} {}: {}", model.name,
                     shapes_text(request.inputs), request.classes, request.target, error.what());
  }
}

// The network that a row made is one for the request.
void check_made(const ModelRow& model, const ModelRequest& request, const graph::Network& net) {
  if (net.loss() < 0) base::user_error("model '{}' is not complete: end it with finish(prediction, loss)", model.name);
  std::vector<tensor::Shape> inputs;
  for (const int input : net.inputs()) inputs.push_back(net.nodes()[static_cast<std::size_t>(input)].shape);
  if (inputs != request.inputs)
    base::user_error("model '{}' has the inputs {}, but the data gives {}; take the shapes from the request",
                     model.name, shapes_text(inputs), shapes_text(request.inputs));
  if (const std::int64_t values = net.shape({net.prediction()}).count(); values != request.classes)
    base::user_error(
        "model '{}' predicts {} values per sample, but the data has {} {}; take the number from the data (in a file "
        "outputs = \"classes\", in C++ the request's classes)",
        model.name, values, request.classes, request.target);
}

}  // namespace

const tensor::Shape& InputShapes::operator[](std::size_t i) const {
  if (i >= size())
    base::user_error("the network asks for input {} of a sample, which has {} ({})", i + 1, size(), shapes_text(*this));
  return at(i);
}

ops::OpPtr loss_for(const ModelRequest& request) {
  if (request.target == "classes") return ops::softmax_cross_entropy();
  if (request.target == "labels") return ops::sigmoid_cross_entropy();
  if (request.target == "values") return ops::squared_error();
  const std::string known[] = {"classes", "labels", "values"};
  base::user_error("{}", base::unknown_name("target", request.target, known));
}

bool is_in_zoo(std::string_view name) {
  const ModelRegistry models = builtin_models();
  return knows_model(models, name);
}

graph::Network build_model(std::string_view name, const ModelRequest& request) {
  const ModelRegistry models = builtin_models();
  return build_model(find_model(models, name), request);
}

graph::Network build_model(const ModelRow& model, const ModelRequest& request) {
  ModelRequest complete = request;
  if (complete.inputs.empty()) complete.inputs = model.inputs;
  check_inputs(model, complete.inputs);
  if (complete.classes < 0)
    base::user_error("model '{}' cannot have {} classes; give a positive number, or 0 for its own {}", model.name,
                     complete.classes, model.classes);
  if (complete.classes == 0) complete.classes = model.classes;
  graph::Network net = make(model, complete);
  check_made(model, complete, net);
  return net;
}

}  // namespace trireme::models
