// The layers of a network that more than one algorithm can compute.
#pragma once

#include <string>
#include <vector>

#include "graph/network.h"

namespace trireme::graph {

struct LayerChoices {
  std::string name;  // as profiles name it
  ops::KernelChoices choices;
};
// `samples`: of an oar.
std::vector<LayerChoices> layers_with_a_choice(const Network& network, std::int64_t samples);

}  // namespace trireme::graph
