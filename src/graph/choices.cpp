#include "graph/choices.h"

#include "graph/plan.h"

namespace trireme::graph {

std::vector<LayerChoices> layers_with_a_choice(const Network& network, std::int64_t samples) {
  std::vector<LayerChoices> all;
  for (std::size_t n = 0; n < network.nodes().size(); ++n) {
    const Node& node = network.nodes()[n];
    if (!node.op) continue;
    std::vector<tensor::Shape> shapes;
    for (const int input : node.inputs)
      shapes.push_back(network.nodes()[static_cast<std::size_t>(input)].shape.with_batch(samples));
    ops::KernelChoices choices = node.op->choices(shapes);
    if (choices.algorithms.size() > 1) all.push_back({layer_name(network, static_cast<int>(n)), std::move(choices)});
  }
  return all;
}

}  // namespace trireme::graph
