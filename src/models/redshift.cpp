// Redshift estimation from a spectrum: three 1-D convolutions, then one dense layer over the redshift bins.
#include "base/error.h"
#include "models/families.h"

namespace trireme::models {

Value redshift_cnn(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  Value x = inputs[0];
  for (int i = 1; i <= 3; ++i) {
    x = layers.conv(fmt::format("conv{}", i), x, {.channels = 16, .kernel = 8});
    x = layers.max_pool(fmt::format("pool{}", i), layers.relu(fmt::format("relu{}", i), x));
  }
  return layers.dense("fc", layers.flatten("flatten", x), classes);
}

}  // namespace trireme::models
