#include "models/init.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/text/nearest.h"

namespace trireme::models {
namespace {

using graph::ParameterInfo;
using ops::Role;

// A distribution with mean 0 and fixed width, or a constant.
struct Filling {
  enum class Kind { constant, uniform, normal } kind = Kind::constant;
  float size = 0;  // the value, the bound or the standard deviation
};

Filling constant(float value) { return {Filling::Kind::constant, value}; }
Filling uniform(double bound) { return {Filling::Kind::uniform, static_cast<float>(bound)}; }
Filling normal(double deviation) { return {Filling::Kind::normal, static_cast<float>(deviation)}; }

struct Fans {
  double in = 1, out = 1;
};

// The fans of a layer: as specified by its op, else derived from the weights' shape (outputs, inputs, kernel ...). A
// bias uses the fans of its node's weights.
Fans fans(const graph::Network& network, const ParameterInfo& parameter) {
  const ParameterInfo* weights = &parameter;
  if (parameter.spec.role == Role::bias)
    for (const ParameterInfo& other : network.parameters())
      if (other.node == parameter.node && other.spec.role == Role::weights) weights = &other;
  const tensor::Shape& shape = weights->spec.shape;
  Fans result;
  if (shape.rank() >= 2) {
    result.in = static_cast<double>(shape.count_from(1));
    result.out = static_cast<double>(shape[0] * shape.count_from(2));
  }
  if (weights->spec.fan_in > 0) result.in = static_cast<double>(weights->spec.fan_in);
  if (weights->spec.fan_out > 0) result.out = static_cast<double>(weights->spec.fan_out);
  return result;
}

bool belongs_to_conv(const graph::Network& network, const ParameterInfo& parameter) {
  return network.nodes()[static_cast<std::size_t>(parameter.node)].op->kind() == "conv";
}

Filling filling(const graph::Network& network, const ParameterInfo& parameter, std::string_view style) {
  switch (parameter.spec.role) {
    case Role::scale:
    case Role::running_variance: return constant(1);
    case Role::shift:
    case Role::running_mean: return constant(0);
    case Role::weights:
    case Role::bias: break;
  }
  const bool bias = parameter.spec.role == Role::bias;
  const Fans fan = fans(network, parameter);
  if (style == "keras") return bias ? constant(0) : uniform(std::sqrt(6.0 / (fan.in + fan.out)));
  if (style == "he" && belongs_to_conv(network, parameter))
    return bias ? constant(0) : normal(std::sqrt(2.0 / fan.out));
  return uniform(1.0 / std::sqrt(fan.in));
}

void fill(const Filling& filling, const base::CounterRng& rng, std::span<float> values) {
  switch (filling.kind) {
    case Filling::Kind::constant: std::fill(values.begin(), values.end(), filling.size); break;
    case Filling::Kind::uniform:
      // 2u - 1 is exact. The lower bound can occur, the upper bound cannot.
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = (2 * rng.uniform(i) - 1) * filling.size;
      break;
    case Filling::Kind::normal:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = rng.normal(i) * filling.size;
      break;
  }
}

}  // namespace

std::span<const std::string> init_styles() {
  static const std::string styles[] = {"pytorch", "keras", "he"};
  return styles;
}

void initialize(const graph::Network& network, const tensor::ParameterSpace& space, float* weights,
                std::string_view style, std::uint64_t seed) {
  const auto styles = init_styles();
  if (std::find(styles.begin(), styles.end(), style) == styles.end())
    base::user_error("{}", base::unknown_name("initialisation", style, styles));
  const auto& parameters = network.parameters();
  base::check(static_cast<int>(parameters.size()) == space.size(), "network '{}' has {} parameters, its space {}",
              network.name(), parameters.size(), space.size());
  std::vector<float> plain;  // one parameter in plain order, if its layout is not plain
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const tensor::ParameterRange& range = space.range(static_cast<int>(i));
    base::check(range.count() == parameters[i].spec.shape.count(), "parameter '{}' has {} values in its space, not {}",
                parameters[i].name, range.count(), parameters[i].spec.shape.count());
    const auto count = static_cast<std::size_t>(range.count());
    const bool is_plain = range.layout.is_plain();
    if (!is_plain) plain.resize(count);
    const std::span<float> values(is_plain ? weights + range.offset : plain.data(), count);
    fill(filling(network, parameters[i], style), base::CounterRng(seed, base::Purpose::init, i), values);
    if (!is_plain) tensor::from_plain(range.layout, plain.data(), weights + range.offset);
  }
}

}  // namespace trireme::models
