#include "models/files/model_file.h"

#include <algorithm>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/nearest.h"
#include "graph/description/network_json.h"
#include "models/files/toml_model.h"
#include "models/init.h"

namespace trireme::models {
namespace {

// A description is of one network: data of other shapes or with other targets does not fit it.
void check_fits(const graph::Network& network, const std::vector<tensor::Shape>& shapes, const ModelRequest& request,
                const std::string& file) {
  for (std::size_t i = 0; i < std::min(shapes.size(), request.inputs.size()); ++i)
    if (shapes[i] != request.inputs[i])
      base::user_error("{} describes a network for the input {}, but the data gives {}", file, shapes[i].text(),
                       request.inputs[i].text());
  if (const std::int64_t values = network.shape({network.prediction()}).count(); values != request.classes)
    base::user_error("{} describes a network that predicts {} values, but the data has {} {}", file, values,
                     request.classes, request.target);
  const std::string_view loss = network.nodes()[static_cast<std::size_t>(network.loss())].op->kind();
  const ops::OpPtr usual = loss_for(request);
  for (const char* target : {"classes", "labels", "values"}) {
    if (target == request.target || loss != loss_for({.target = target})->kind()) continue;
    base::user_error("{} ends in {}, which is for {}, but the data has {}", file, loss, target, request.target);
  }
}

ModelRow json_model(const ops::OpRegistry& ops, const std::string& text, const std::string& file) {
  const graph::Network network = graph::network_from_json(ops, text, file);
  const auto styles = init_styles();
  if (!network.initialiser().empty() && std::ranges::find(styles, network.initialiser()) == styles.end())
    base::user_error("{} at /initialiser: {}", file,
                     base::unknown_name("initialisation", network.initialiser(), styles));
  ModelRow row{.name = network.name(), .summary = "the network of " + file};
  for (const int input : network.inputs()) row.inputs.push_back(network.nodes()[static_cast<std::size_t>(input)].shape);
  row.classes = network.shape({network.prediction()}).count();
  row.make = [network, file, shapes = row.inputs](const ModelRequest& request) {
    check_fits(network, shapes, request, file);
    return network;
  };
  return row;
}

}  // namespace

bool is_model_file(const std::string& name) {
  return name.ends_with(".toml") || name.ends_with(".json") || name.find('/') != std::string::npos;
}

ModelRow model_from_text(const ops::OpRegistry& ops, const std::string& text, const std::string& file) {
  if (file.ends_with(".toml")) return toml_model(ops, text, file);
  if (file.ends_with(".json")) return json_model(ops, text, file);
  base::user_error(
      "--model {} must be the name of a network (trireme list models), or a file that ends in .toml or .json", file);
}

}  // namespace trireme::models
