// ResNets of widths 64, 128, 256, 512: torchvision's ImageNet layout, and a variant with a small stem for CIFAR.
#include <array>

#include "models/families.h"
#include "models/residual.h"

namespace trireme::models {
namespace {

Value stages_and_head(LayerBuilder& layers, Value x, ResidualBlock block, const std::array<int, 4>& blocks,
                      std::int64_t classes) {
  x = residual_stage(layers, block, "layer1", x, 64, blocks[0], 1);
  x = residual_stage(layers, block, "layer2", x, 128, blocks[1], 2);
  x = residual_stage(layers, block, "layer3", x, 256, blocks[2], 2);
  x = residual_stage(layers, block, "layer4", x, 512, blocks[3], 2);
  x = layers.flatten("flatten", layers.global_average_pool("avgpool", x));
  return layers.dense("fc", x, classes);
}

Value stem_norm_relu(LayerBuilder& layers, Value x) { return layers.relu("relu", layers.batch_norm("bn1", x)); }

Value imagenet_stem(LayerBuilder& layers, Value x) {
  x = layers.conv("conv1", x, {.channels = 64, .kernel = 7, .stride = 2, .padding = 3, .bias = false});
  return layers.max_pool("maxpool", stem_norm_relu(layers, x), {.kernel = 3, .stride = 2, .padding = 1});
}

}  // namespace

Value resnet18(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  return stages_and_head(layers, imagenet_stem(layers, inputs[0]), basic_block, {2, 2, 2, 2}, classes);
}

Value resnet50(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  return stages_and_head(layers, imagenet_stem(layers, inputs[0]), bottleneck_block, {3, 4, 6, 3}, classes);
}

Value resnet18_cifar(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  const Value x = layers.conv("conv1", inputs[0], {.channels = 64, .kernel = 3, .padding = 1, .bias = false});
  return stages_and_head(layers, stem_norm_relu(layers, x), basic_block, {2, 2, 2, 2}, classes);
}

}  // namespace trireme::models
