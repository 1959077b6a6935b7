// A small ResNet v1 over series and spectra: a 1-D convolution, three stages of two basic blocks, widths 32, 64, 128.
#include "models/families.h"
#include "models/residual.h"

namespace trireme::models {

Value resnet1d(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  Value x = layers.conv("conv1", inputs[0], {.channels = 32, .kernel = 7, .stride = 2, .padding = 3, .bias = false});
  x = layers.relu("relu", layers.batch_norm("bn1", x));
  x = residual_stage(layers, basic_block, "layer1", x, 32, 2, 1);
  x = residual_stage(layers, basic_block, "layer2", x, 64, 2, 2);
  x = residual_stage(layers, basic_block, "layer3", x, 128, 2, 2);
  x = layers.flatten("flatten", layers.global_average_pool("avgpool", x));
  return layers.dense("fc", x, classes);
}

}  // namespace trireme::models
