// One line per model: name, summary, inputs per sample, classes, batch, builder.
#include <fmt/core.h>

#include "models/families.h"
#include "models/zoo.h"

namespace trireme::models {
namespace {

// Adds a model's layers over the given inputs and returns its prediction (logits or values, not probabilities).
using Builder = std::function<Value(LayerBuilder& layers, Inputs inputs, std::int64_t classes)>;

struct Entry {
  std::string name, summary;
  std::vector<tensor::Shape> inputs;
  std::int64_t classes, batch;
  Builder builder;
};

MakeNetwork make_with(const std::string& name, const Builder& builder) {
  return [name, builder](const ModelRequest& request) {
    const ops::OpPtr loss = loss_for(request);
    graph::Network net(name);
    std::vector<Value> inputs;
    for (const tensor::Shape& shape : request.inputs)
      inputs.push_back(
          net.input(request.inputs.size() == 1 ? "input" : fmt::format("input{}", inputs.size() + 1), shape));
    LayerBuilder layers(net);
    net.finish(builder(layers, inputs, request.classes), loss);
    return net;
  };
}

ModelRow row_of(const Entry& entry) {
  return {entry.name, entry.summary, entry.inputs, entry.classes, entry.batch, make_with(entry.name, entry.builder)};
}

Builder mlp_of(const MlpOptions& options) {
  return [options](LayerBuilder& layers, Inputs in, std::int64_t classes) { return mlp(options, layers, in, classes); };
}
ModelRow mlp_row() {
  ModelRow row = row_of({"mlp", "dense layers with ReLU, for tables", {{1, 28, 28}}, 10, 64, mlp_of({})});
  row.any_shape = true;
  row.options = {{"hidden", "128x64", "outputs of the hidden layers, also as 128,64; none: the output layer alone"},
                 {"dropout", "0", "share of each hidden layer's values that training drops"}};
  row.configure = [](base::Spec& options, const std::string& name) {
    return make_with(name, mlp_of(read_mlp_options(options)));
  };
  return row;
}

Builder resnet_cifar_of(int depth) {
  return [depth](LayerBuilder& layers, Inputs in, std::int64_t classes) {
    return resnet_cifar(depth, layers, in, classes);
  };
}
Builder resnet_v2_cifar_of(int depth) {
  return [depth](LayerBuilder& layers, Inputs in, std::int64_t classes) {
    return resnet_v2_cifar(depth, layers, in, classes);
  };
}
Builder densenet_bc_of(int depth, std::int64_t growth) {
  return [=](LayerBuilder& layers, Inputs in, std::int64_t classes) {
    return densenet_bc(depth, growth, layers, in, classes);
  };
}

}  // namespace

ModelRegistry builtin_models() {
  const std::vector<tensor::Shape> landcover = {{4, 64, 64}, {2, 64, 64}, {1, 64, 64}};
  // clang-format off
  const std::vector<Entry> list = {
      {"lenet5", "LeNet-5 with tanh and average pools", {{3, 32, 32}}, 10, 126, lenet5},
      {"mnist-cnn", "two convolutions, two dense layers, dropout", {{1, 28, 28}}, 10, 96, mnist_cnn},
      {"alexnet", "AlexNet in torchvision's form", {{3, 64, 64}}, 10, 126, alexnet},
      {"resnet18", "ResNet-18, ImageNet layout", {{3, 32, 32}}, 10, 126, resnet18},
      {"resnet50", "ResNet-50, ImageNet layout", {{3, 32, 32}}, 10, 126, resnet50},
      {"resnet18-cifar", "ResNet-18 with a 3x3 stem and no max-pool", {{3, 32, 32}}, 10, 126, resnet18_cifar},
      {"resnet20-cifar", "ResNet v1 of depth 20, widths 16, 32, 64", {{3, 32, 32}}, 10, 128, resnet_cifar_of(20)},
      {"resnet32-cifar", "ResNet v1 of depth 32, widths 16, 32, 64", {{3, 32, 32}}, 10, 128, resnet_cifar_of(32)},
      {"resnet44-cifar", "ResNet v1 of depth 44, widths 16, 32, 64", {{3, 32, 32}}, 10, 128, resnet_cifar_of(44)},
      {"resnet50-cifar", "ResNet v1 of depth 50, widths 16, 32, 64", {{3, 32, 32}}, 10, 128, resnet_cifar_of(50)},
      {"resnet56-cifar", "ResNet v1 of depth 56, widths 16, 32, 64", {{3, 32, 32}}, 10, 128, resnet_cifar_of(56)},
      {"resnet110-cifar", "ResNet v1 of depth 110, widths 16, 32, 64", {{3, 32, 32}}, 10, 128, resnet_cifar_of(110)},
      {"resnet56v2-cifar", "ResNet v2 (bottlenecks) of depth 56, L2", {{3, 32, 32}}, 10, 64, resnet_v2_cifar_of(56)},
      {"densenet40-12", "DenseNet-BC of depth 40, growth 12", {{1, 28, 28}}, 10, 128, densenet_bc_of(40, 12)},
      {"redshift-cnn", "1-D convolutions over a spectrum, to redshift bins", {{1, 1800}}, 800, 64, redshift_cnn},
      {"landcover-cnn", "a branch for each of three images", landcover, 10, 64, landcover_cnn},
      {"resnet1d", "a small 1-D ResNet v1 for series and spectra, widths 32, 64, 128", {{1, 1800}}, 10, 64, resnet1d},
  };
  // clang-format on
  ModelRegistry models("model");
  for (const Entry& entry : list) models.add(row_of(entry));
  models.add(mlp_row());
  return models;
}

}  // namespace trireme::models
