// The MNIST example network of Keras and PyTorch: two convolutions, one pool, two dense layers, dropout.
#include "models/families.h"

namespace trireme::models {

Value mnist_cnn(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  Value x = inputs[0];
  x = layers.relu("relu1", layers.conv("conv1", x, {.channels = 32, .kernel = 3}));
  x = layers.relu("relu2", layers.conv("conv2", x, {.channels = 64, .kernel = 3}));
  x = layers.dropout("dropout1", layers.max_pool("pool", x), 0.25);
  x = layers.flatten("flatten", x);
  x = layers.relu("relu3", layers.dense("fc1", x, 128));
  return layers.dense("fc2", layers.dropout("dropout2", x, 0.5), classes);
}

}  // namespace trireme::models
