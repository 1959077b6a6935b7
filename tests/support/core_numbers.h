// Numbers for tests: a pure function of a stream and a position, and the canonical values of a network's parameters.
#pragma once

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "graph/network.h"
#include "tensor/parameter_space.h"

namespace trireme::support {

using Plain = std::vector<std::vector<float>>;  // per parameter or input, row-major

// `count` numbers, uniform in [low, high).
inline std::vector<float> numbers(std::int64_t count, std::uint64_t stream, float low = -1, float high = 1) {
  const base::CounterRng rng(2024, base::Purpose::probe, 77, stream);
  std::vector<float> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = low + (high - low) * rng.uniform(i);
  return all;
}

// Values that keep activations near size 1; every kind of parameter away from 0 and from each other.
inline Plain parameter_values(const graph::Network& net, std::uint64_t stream = 0) {
  Plain all;
  for (const graph::ParameterInfo& parameter : net.parameters()) {
    const std::uint64_t own = 1000 * (stream + 1) + all.size();
    const std::int64_t count = parameter.spec.shape.count();
    const float reach = std::sqrt(6.0f / static_cast<float>(std::max<std::int64_t>(parameter.spec.fan_in, 1)));
    switch (parameter.spec.role) {
      case ops::Role::weights: all.push_back(numbers(count, own, -reach, reach)); break;
      case ops::Role::bias: all.push_back(numbers(count, own, -0.2f, 0.2f)); break;
      case ops::Role::scale: all.push_back(numbers(count, own, 0.5f, 1.5f)); break;
      case ops::Role::shift: all.push_back(numbers(count, own, -0.3f, 0.3f)); break;
      case ops::Role::running_mean: all.push_back(numbers(count, own, -0.5f, 0.5f)); break;
      case ops::Role::running_variance: all.push_back(numbers(count, own, 0.5f, 2.0f)); break;
    }
  }
  return all;
}

// Inputs of a batch, in the network's order.
inline Plain input_values(const graph::Network& net, std::int64_t samples, std::uint64_t stream = 0) {
  Plain all;
  for (const int input : net.inputs())
    all.push_back(
        numbers(samples * net.nodes()[static_cast<std::size_t>(input)].shape.count(), 500 + 10 * stream + all.size()));
  return all;
}

// Targets: class indices for a softmax, values in [0, 1) for the rest.
inline std::vector<float> target_values(const graph::Network& net, std::int64_t samples, std::uint64_t stream = 0) {
  const auto& nodes = net.nodes();
  const auto node = [&](int i) -> const graph::Node& { return nodes[static_cast<std::size_t>(i)]; };
  std::vector<float> all = numbers(samples * node(net.target()).shape.count(), 900 + stream, 0, 1);
  if (node(net.loss()).op->kind() == "softmax_cross_entropy")
    for (float& t : all) t = std::floor(t * static_cast<float>(node(net.prediction()).shape[0]));
  if (node(net.loss()).op->kind() == "sigmoid_cross_entropy")
    for (float& t : all) t = t < 0.5f ? 0.0f : 1.0f;
  return all;
}

inline void put_parameters(const tensor::ParameterSpace& space, const Plain& values, float* buffer) {
  for (int p = 0; p < space.size(); ++p)
    tensor::from_plain(space.range(p).layout, values[static_cast<std::size_t>(p)].data(),
                       buffer + space.range(p).offset);
}

inline Plain get_parameters(const tensor::ParameterSpace& space, const float* buffer) {
  Plain all;
  for (const tensor::ParameterRange& range : space.ranges()) {
    all.emplace_back(static_cast<std::size_t>(range.count()));
    tensor::to_plain(range.layout, buffer + range.offset, all.back().data());
  }
  return all;
}

}  // namespace trireme::support
