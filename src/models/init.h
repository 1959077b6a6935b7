// Initializes all parameters of a network. Every value is a pure function of (seed, the parameter's index in order of
// definition, its position in canonical plain order), independent of layout, threads and ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/network.h"
#include "tensor/parameter_space.h"

namespace trireme::models {

// "pytorch"  weights and biases of convolutions and dense layers uniform within +-1/sqrt(fan_in)
// "keras"    weights uniform within +-sqrt(6 / (fan_in + fan_out)), biases 0
// "he"       convolutions normal with variance 2 / fan_out and biases 0, dense layers as "pytorch" (torchvision's
//            ResNets)
// In every style scales and running variances are 1, shifts and running means 0.
std::span<const std::string> init_styles();

// Fills `weights`, laid out by `space`. REQUIRES: parameter i of `space` is network.parameters()[i]. An unknown style
// is a user error.
void initialize(const graph::Network& network, const tensor::ParameterSpace& space, float* weights,
                std::string_view style, std::uint64_t seed);

}  // namespace trireme::models
