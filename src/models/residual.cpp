#include "models/residual.h"

#include "base/error.h"

namespace trireme::models {
namespace {

Value conv_norm(LayerBuilder& layers, const std::string& block, int number, Value x, Conv options) {
  options.bias = false;
  x = layers.conv(fmt::format("{}.conv{}", block, number), x, options);
  return layers.batch_norm(fmt::format("{}.bn{}", block, number), x);
}

Value conv_norm_relu(LayerBuilder& layers, const std::string& block, int number, Value x, const Conv& options) {
  return layers.relu(fmt::format("{}.relu{}", block, number), conv_norm(layers, block, number, x, options));
}

// Adds the shortcut (a projection if the shape changes) to the residual. Call it after the block's convolutions:
// torchvision orders the parameters so.
Value join(LayerBuilder& layers, const std::string& block, Value x, Value residual, std::int64_t stride) {
  Value shortcut = x;
  if (stride != 1 || layers.channels(x) != layers.channels(residual)) {
    shortcut = layers.conv(block + ".downsample.0", x,
                           {.channels = layers.channels(residual), .stride = stride, .bias = false});
    shortcut = layers.batch_norm(block + ".downsample.1", shortcut);
  }
  return layers.relu(block + ".relu", layers.add(block + ".add", residual, shortcut));
}

}  // namespace

Value basic_block(LayerBuilder& layers, const std::string& name, Value x, std::int64_t width, std::int64_t stride) {
  const Conv first{.channels = width, .kernel = 3, .stride = stride, .padding = 1};
  Value y = conv_norm_relu(layers, name, 1, x, first);
  y = conv_norm(layers, name, 2, y, {.channels = width, .kernel = 3, .padding = 1});
  return join(layers, name, x, y, stride);
}

Value bottleneck_block(LayerBuilder& layers, const std::string& name, Value x, std::int64_t width,
                       std::int64_t stride) {
  const Conv middle{.channels = width, .kernel = 3, .stride = stride, .padding = 1};
  Value y = conv_norm_relu(layers, name, 1, x, {.channels = width});
  y = conv_norm_relu(layers, name, 2, y, middle);
  y = conv_norm(layers, name, 3, y, {.channels = 4 * width});
  return join(layers, name, x, y, stride);
}

Value residual_stage(LayerBuilder& layers, ResidualBlock block, const std::string& name, Value x, std::int64_t width,
                     int blocks, std::int64_t stride) {
  for (int i = 0; i < blocks; ++i) x = block(layers, fmt::format("{}.{}", name, i), x, width, i == 0 ? stride : 1);
  return x;
}

}  // namespace trireme::models
