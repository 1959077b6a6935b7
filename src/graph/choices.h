// LayerChoices: a layer of a network that more than one algorithm can compute. layers_with_a_choice() lists them.
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "graph/network.h"

namespace trireme::graph {

struct LayerChoices {
  std::string name;  // as in profiles
  ops::KernelChoices choices;
};
// `samples`: samples of an oar.
std::vector<LayerChoices> layers_with_a_choice(const Network& network, std::int64_t samples);

}  // namespace trireme::graph
