// Pre-activation bottleneck ResNets for CIFAR in the layout of the Keras example: depth 9 n + 2, three stages of n
// blocks, each with three times (BN, ReLU, conv); convolutions have a bias and an L2 penalty on their kernels.
//
// The shortcut of a stage's first block is a 1x1 convolution without batch norm. The very first block follows the
// stem's BN and ReLU, so its first convolution has no BN and ReLU of its own.
#include "base/error.h"
#include "models/families.h"

namespace trireme::models {
namespace {

constexpr double kL2 = 1e-4;

Value penalised_conv(LayerBuilder& layers, const std::string& name, Value x, const Conv& options) {
  const Value y = layers.conv(name, x, options);
  layers.net().l2_penalty(y, kL2);
  return y;
}

Value norm_relu(LayerBuilder& layers, const std::string& block, int number, Value x) {
  x = layers.batch_norm(fmt::format("{}.bn{}", block, number), x);
  return layers.relu(fmt::format("{}.relu{}", block, number), x);
}

struct Block {
  std::string name;
  std::int64_t width = 0;     // of the first two convolutions
  std::int64_t channels = 0;  // output channels
  std::int64_t stride = 1;
  bool first_of_stage = false;
  bool first_of_network = false;
};

Value add_block(LayerBuilder& layers, const Block& block, Value x) {
  const std::string& name = block.name;
  Value y = block.first_of_network ? x : norm_relu(layers, name, 1, x);
  y = penalised_conv(layers, name + ".conv1", y, {.channels = block.width, .stride = block.stride});
  y = norm_relu(layers, name, 2, y);
  y = penalised_conv(layers, name + ".conv2", y, {.channels = block.width, .kernel = 3, .padding = 1});
  y = norm_relu(layers, name, 3, y);
  y = penalised_conv(layers, name + ".conv3", y, {.channels = block.channels});
  Value shortcut = x;
  if (block.first_of_stage)
    shortcut = penalised_conv(layers, name + ".shortcut", x, {.channels = block.channels, .stride = block.stride});
  return layers.add(name + ".add", y, shortcut);
}

}  // namespace

Value resnet_v2_cifar(int depth, LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  base::check(depth >= 11 && (depth - 2) % 9 == 0, "a CIFAR ResNet v2 has depth 9 n + 2, not {}", depth);
  const int blocks = (depth - 2) / 9;
  Value x = penalised_conv(layers, "conv1", inputs[0], {.channels = 16, .kernel = 3, .padding = 1});
  x = layers.relu("relu1", layers.batch_norm("bn1", x));
  std::int64_t width = 16;
  for (int stage = 0; stage < 3; ++stage) {
    const std::int64_t channels = width * (stage == 0 ? 4 : 2);
    for (int i = 0; i < blocks; ++i)
      x = add_block(layers,
                    {.name = fmt::format("layer{}.{}", stage + 1, i),
                     .width = width,
                     .channels = channels,
                     .stride = stage > 0 && i == 0 ? 2 : 1,
                     .first_of_stage = i == 0,
                     .first_of_network = stage == 0 && i == 0},
                    x);
    width = channels;
  }
  x = layers.relu("relu2", layers.batch_norm("bn2", x));
  x = layers.flatten("flatten", layers.global_average_pool("avgpool", x));
  return layers.dense("fc", x, classes);
}

}  // namespace trireme::models
