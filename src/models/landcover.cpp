// Land-cover classification from three images of one place (multispectral, radar, elevation): one convolutional branch
// each, concatenated along the channels. Designed for splitting over machines, by branch and at the dense layer.
#include "base/error.h"
#include "models/families.h"

namespace trireme::models {
namespace {

Value conv_relu(LayerBuilder& layers, const std::string& part, int number, Value x, const Conv& options) {
  x = layers.conv(fmt::format("{}.conv{}", part, number), x, options);
  return layers.relu(fmt::format("{}.relu{}", part, number), x);
}

Value branch(LayerBuilder& layers, const std::string& name, Value x) {
  const std::int64_t widths[] = {64, 128, 256};
  for (int i = 0; i < 3; ++i) {
    const Conv same{.channels = widths[i], .kernel = 3, .padding = 1};
    x = conv_relu(layers, name, 2 * i + 1, x, same);
    x = conv_relu(layers, name, 2 * i + 2, x, same);
    x = layers.max_pool(fmt::format("{}.pool{}", name, i + 1), x);
  }
  return x;
}

}  // namespace

Value landcover_cnn(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  layers.net().set_oar_limit(8);  // one dense layer holds 34 M of its 40 M parameters
  std::vector<Value> branches;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    branches.push_back(branch(layers, fmt::format("branch{}", i + 1), inputs[i]));
  Value x = layers.concat("concat", branches);
  x = conv_relu(layers, "trunk", 1, x, {.channels = 512});
  x = conv_relu(layers, "trunk", 2, x, {.channels = 512, .kernel = 3, .padding = 1});
  x = layers.flatten("flatten", x);
  x = layers.relu("relu", layers.dense("fc1", x, 1024));
  return layers.dense("fc2", layers.dropout("dropout", x, 0.5), classes);
}

}  // namespace trireme::models
