// DenseNet-BC with three dense blocks. Depth 6 n + 4 gives n bottleneck layers per block; each layer appends `growth`
// channels to its input. Transitions halve the channels (reduction 0.5) and the image.
#include "base/error.h"
#include "models/families.h"

namespace trireme::models {
namespace {

constexpr double kDropout = 0.1;

Value numbered_norm_relu(LayerBuilder& layers, const std::string& name, const std::string& number, Value x) {
  return layers.relu(name + ".relu" + number, layers.batch_norm(name + ".norm" + number, x));
}

// BN, ReLU, 1x1 to 4 * growth channels, dropout; BN, ReLU, 3x3 to growth channels, dropout; appended to the input.
Value dense_layer(LayerBuilder& layers, const std::string& name, std::int64_t growth, Value x) {
  Value y = numbered_norm_relu(layers, name, "1", x);
  y = layers.conv(name + ".conv1", y, {.channels = 4 * growth, .bias = false});
  y = layers.dropout(name + ".dropout1", y, kDropout);
  y = numbered_norm_relu(layers, name, "2", y);
  y = layers.conv(name + ".conv2", y, {.channels = growth, .kernel = 3, .padding = 1, .bias = false});
  y = layers.dropout(name + ".dropout2", y, kDropout);
  return layers.concat(name + ".concat", {x, y});
}

Value transition(LayerBuilder& layers, const std::string& name, Value x) {
  x = numbered_norm_relu(layers, name, "", x);
  x = layers.conv(name + ".conv", x, {.channels = layers.channels(x) / 2, .bias = false});
  return layers.average_pool(name + ".pool", x);
}

}  // namespace

Value densenet_bc(int depth, std::int64_t growth, LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  base::check(depth >= 10 && (depth - 4) % 6 == 0, "a DenseNet-BC has depth 6 n + 4, not {}", depth);
  const int dense_layers = (depth - 4) / 6;
  Value x =
      layers.conv("features.conv0", inputs[0], {.channels = 2 * growth, .kernel = 3, .padding = 1, .bias = false});
  for (int block = 1; block <= 3; ++block) {
    for (int i = 1; i <= dense_layers; ++i)
      x = dense_layer(layers, fmt::format("features.denseblock{}.denselayer{}", block, i), growth, x);
    if (block < 3) x = transition(layers, fmt::format("features.transition{}", block), x);
  }
  x = numbered_norm_relu(layers, "features", "", x);
  x = layers.flatten("flatten", layers.global_average_pool("avgpool", x));
  return layers.dense("classifier", x, classes);
}

}  // namespace trireme::models
