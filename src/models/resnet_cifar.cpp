// The narrow ResNets v1 for CIFAR: depth 6 n + 2, three stages of n basic blocks, widths 16, 32, 64.
#include "base/error.h"
#include "models/families.h"
#include "models/residual.h"

namespace trireme::models {

Value resnet_cifar(int depth, LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  base::check(depth >= 8 && (depth - 2) % 6 == 0, "a CIFAR ResNet v1 has depth 6 n + 2, not {}", depth);
  const int blocks = (depth - 2) / 6;
  Value x = layers.conv("conv1", inputs[0], {.channels = 16, .kernel = 3, .padding = 1, .bias = false});
  x = layers.relu("relu", layers.batch_norm("bn1", x));
  x = residual_stage(layers, basic_block, "layer1", x, 16, blocks, 1);
  x = residual_stage(layers, basic_block, "layer2", x, 32, blocks, 2);
  x = residual_stage(layers, basic_block, "layer3", x, 64, blocks, 2);
  x = layers.flatten("flatten", layers.global_average_pool("avgpool", x));
  return layers.dense("fc", x, classes);
}

}  // namespace trireme::models
