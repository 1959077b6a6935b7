// The network families: each function adds its layers on the inputs and returns the prediction. model_list.cpp names
// them. Nodes are named as in PyTorch (torchvision, if it has the network), so parameter names agree.
// One thread at a time per LayerBuilder.
#pragma once

#include <span>
#include <vector>

#include "base/text/text.h"
#include "models/layer_builder.h"

namespace trireme::models {

using Inputs = std::span<const Value>;

Value lenet5(LayerBuilder& layers, Inputs inputs, std::int64_t classes);
Value mnist_cnn(LayerBuilder& layers, Inputs inputs, std::int64_t classes);
Value alexnet(LayerBuilder& layers, Inputs inputs, std::int64_t classes);
Value resnet18(LayerBuilder& layers, Inputs inputs, std::int64_t classes);
Value resnet50(LayerBuilder& layers, Inputs inputs, std::int64_t classes);
Value resnet18_cifar(LayerBuilder& layers, Inputs inputs, std::int64_t classes);
// depth = 6 n + 2
Value resnet_cifar(int depth, LayerBuilder& layers, Inputs inputs, std::int64_t classes);
// depth = 9 n + 2
Value resnet_v2_cifar(int depth, LayerBuilder& layers, Inputs inputs, std::int64_t classes);
// depth = 6 n + 4; growth: channels added by each dense layer
Value densenet_bc(int depth, std::int64_t growth, LayerBuilder& layers, Inputs inputs, std::int64_t classes);
Value redshift_cnn(LayerBuilder& layers, Inputs inputs, std::int64_t classes);
struct MlpOptions {
  std::vector<std::int64_t> hidden{128, 64};  // outputs of each hidden layer
  double dropout = 0;                         // after each hidden layer
};
MlpOptions read_mlp_options(base::Spec& options);
Value mlp(const MlpOptions& options, LayerBuilder& layers, Inputs inputs, std::int64_t classes);
Value resnet1d(LayerBuilder& layers, Inputs inputs, std::int64_t classes);
Value landcover_cnn(LayerBuilder& layers, Inputs inputs, std::int64_t classes);

}  // namespace trireme::models
