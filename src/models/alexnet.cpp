// AlexNet as in torchvision. The adaptive 6x6 average pool gives the classifier the same size for all images from 63x63
// up; almost all of the 57 M parameters are in dense layers.
#include "models/families.h"

namespace trireme::models {

Value alexnet(LayerBuilder& layers, Inputs inputs, std::int64_t classes) {
  layers.net().set_oar_limit(4);  // each oar reads and writes all 228 MB of weights
  const Pool overlapping{.kernel = 3, .stride = 2};
  Value x = inputs[0];
  x = layers.conv("features.0", x, {.channels = 64, .kernel = 11, .stride = 4, .padding = 2});
  x = layers.max_pool("features.2", layers.relu("features.1", x), overlapping);
  x = layers.conv("features.3", x, {.channels = 192, .kernel = 5, .padding = 2});
  x = layers.max_pool("features.5", layers.relu("features.4", x), overlapping);
  x = layers.conv("features.6", x, {.channels = 384, .kernel = 3, .padding = 1});
  x = layers.relu("features.7", x);
  x = layers.conv("features.8", x, {.channels = 256, .kernel = 3, .padding = 1});
  x = layers.relu("features.9", x);
  x = layers.conv("features.10", x, {.channels = 256, .kernel = 3, .padding = 1});
  x = layers.max_pool("features.12", layers.relu("features.11", x), overlapping);
  x = layers.flatten("flatten", layers.adaptive_average_pool("avgpool", x, 6));
  x = layers.dropout("classifier.0", x, 0.5);
  x = layers.relu("classifier.2", layers.dense("classifier.1", x, 4096));
  x = layers.dropout("classifier.3", x, 0.5);
  x = layers.relu("classifier.5", layers.dense("classifier.4", x, 4096));
  return layers.dense("classifier.6", x, classes);
}

}  // namespace trireme::models
