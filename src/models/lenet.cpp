// LeNet-5 with tanh and average pools. Images below 32x32 (MNIST's 28x28) are padded by 2 in the first convolution.
#include "models/families.h"

namespace trireme::models {

Value lenet5(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  Value x = inputs[0];
  const std::int64_t padding = layers.shape(x)[1] < 32 ? 2 : 0;
  x = layers.conv("conv1", x, {.channels = 6, .kernel = 5, .padding = padding});
  x = layers.average_pool("pool1", layers.tanh("tanh1", x));
  x = layers.conv("conv2", x, {.channels = 16, .kernel = 5});
  x = layers.average_pool("pool2", layers.tanh("tanh2", x));
  x = layers.flatten("flatten", x);
  x = layers.tanh("tanh3", layers.dense("fc1", x, 120));
  x = layers.tanh("tanh4", layers.dense("fc2", x, 84));
  return layers.dense("fc3", x, classes);
}

}  // namespace trireme::models
