#include <nlohmann/json.hpp>

#include "base/error.h"
#include "graph/description/op_options_json.h"
#include "models/files/model_file.h"
#include "ops/core/op_registry.h"

namespace trireme::models {
namespace {

using graph::Network;
using graph::Node;
using OrderedJson = nlohmann::ordered_json;

const Node& node_at(const Network& network, int index) { return network.nodes()[static_cast<std::size_t>(index)]; }

// A JSON text is a TOML text as well, except for characters that neither writes as they are.
std::string quoted(const std::string& text) { return OrderedJson(text).dump(); }

std::string sizes_text(const OrderedJson& sizes) {
  std::string text = "[";
  for (const OrderedJson& size : sizes) text += (text.size() > 1 ? ", " : "") + size.dump();
  return text + "]";
}

// True if the option is a size that is the same in every spatial dimension, so that one number stands for all.
std::string value_text(const OrderedJson& value) {
  if (!value.is_array()) return value.dump();
  for (const OrderedJson& size : value)
    if (size != value[0]) return sizes_text(value);
  return value[0].dump();
}

// One layer as {name = "conv1", op = "conv", channels = 16, kernel = 3}. What follows by itself is left out: the layer
// before as the input, the number of a dropout's stream.
class LayerText {
 public:
  LayerText(const Network& network, std::int64_t classes) : network_(network), classes_(classes) {}

  std::string next(int index) {
    const Node& node = node_at(network_, index);
    std::string text = fmt::format("{{name = {}, op = \"{}\"", quoted(node.name), node.op->kind());
    if (node.inputs != std::vector<int>{last_}) {
      std::string names;
      for (const int input : node.inputs) names += (names.empty() ? "" : ", ") + quoted(node_at(network_, input).name);
      text += node.inputs.size() == 1 ? ", inputs = " + names : ", inputs = [" + names + "]";
    }
    last_ = index;
    bool has_outputs = false;
    const bool is_dropout = node.op->kind() == "dropout";
    const OrderedJson options = graph::options_json(*node.op);
    for (const auto& [key, value] : options.items()) {
      if (is_dropout && key == "stream" && value == dropouts_) continue;
      const bool is_classes = index == network_.prediction() && !has_outputs && value == classes_ && value.is_number();
      has_outputs = has_outputs || is_classes;
      text += fmt::format(", {} = {}", key, is_classes ? "\"classes\"" : value_text(value));
    }
    if (is_dropout) ++dropouts_;
    for (const graph::ParameterInfo& parameter : network_.parameters())
      if (parameter.node == index && parameter.l2 != 0)
        text += fmt::format(", l2 = {}", OrderedJson(parameter.l2).dump());
    return text + "}";
  }

  void start_after(int index) { last_ = index; }

 private:
  const Network& network_;
  const std::int64_t classes_;
  int last_ = -1;
  std::int64_t dropouts_ = 0;
};

}  // namespace

std::string model_toml(const ModelRow& model, const ModelRequest& request, const Network& network) {
  std::string text = fmt::format("name = {}\n", quoted(network.name()));
  text += fmt::format("batch = {}  # the global batch without --batch\n", model.batch);
  text += fmt::format("oars = {}  # at most so many by default\n", network.oar_limit());
  if (!network.initialiser().empty()) text += fmt::format("initialiser = {}\n", quoted(network.initialiser()));
  text += "\n# The shapes are those of the data; these serve --data synthetic.\ninputs = [\n";
  for (const int input : network.inputs())
    text += fmt::format("  {{name = {}, shape = {}}},\n", quoted(node_at(network, input).name),
                        sizes_text(node_at(network, input).shape.sizes()));
  text +=
      fmt::format("]\nclasses = {}\n\n# A layer reads the one before it, unless 'inputs' names others.\nlayers = [\n",
                  request.classes);
  LayerText layers(network, request.classes);
  if (network.inputs().size() == 1) layers.start_after(network.inputs()[0]);
  for (int i = 0; i < static_cast<int>(network.nodes().size()); ++i)
    if (node_at(network, i).op && i != network.loss()) text += fmt::format("  {},\n", layers.next(i));
  text += "]\n";
  // The prediction is the last layer, and the loss the one for the data's targets, unless named.
  int last = -1;
  for (int i = 0; i < static_cast<int>(network.nodes().size()); ++i)
    if (node_at(network, i).op && i != network.loss()) last = i;
  if (network.prediction() != last)
    text += fmt::format("prediction = {}\n", quoted(node_at(network, network.prediction()).name));
  const ops::Op& loss = *node_at(network, network.loss()).op;
  if (ops::op_text(loss) != ops::op_text(*loss_for(request)))
    text += fmt::format("loss = \"{}\"\n", ops::op_text(loss));
  return text;
}

}  // namespace trireme::models
