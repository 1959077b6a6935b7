// Parameter counts of every model, by arithmetic on the layers as they are published, never by reading the builder.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/zoo.h"

namespace trireme::models {
namespace {

const ModelRegistry kZoo = builtin_models();

std::int64_t conv(std::int64_t in, std::int64_t out, std::int64_t kernel_elements) {
  return in * out * kernel_elements;
}
std::int64_t biased(std::int64_t in, std::int64_t out, std::int64_t kernel_elements = 1) {
  return (in * kernel_elements + 1) * out;
}
std::int64_t norm(std::int64_t channels) { return 2 * channels; }

std::int64_t lenet5_count(std::int64_t channels, std::int64_t flat, std::int64_t classes) {
  return biased(channels, 6, 25) + biased(6, 16, 25) + biased(flat, 120) + biased(120, 84) + biased(84, classes);
}

std::int64_t basic_count(std::int64_t in, std::int64_t out) {
  const std::int64_t projection = in == out ? 0 : conv(in, out, 1) + norm(out);
  return conv(in, out, 9) + conv(out, out, 9) + 2 * norm(out) + projection;
}

std::int64_t resnet18_count(std::int64_t stem_elements, std::int64_t classes) {
  std::int64_t count = conv(3, 64, stem_elements) + norm(64) + 2 * basic_count(64, 64);
  for (const std::int64_t width : {128, 256, 512}) count += basic_count(width / 2, width) + basic_count(width, width);
  return count + biased(512, classes);
}

std::int64_t resnet50_count(std::int64_t classes) {
  std::int64_t count = conv(3, 64, 49) + norm(64);
  std::int64_t in = 64, width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int i = 0; i < blocks; ++i) {
      count +=
          conv(in, width, 1) + conv(width, width, 9) + conv(width, 4 * width, 1) + 2 * norm(width) + norm(4 * width);
      if (i == 0) count += conv(in, 4 * width, 1) + norm(4 * width);
      in = 4 * width;
    }
    width *= 2;
  }
  return count + biased(2048, classes);
}

std::int64_t resnet_cifar_count(std::int64_t n, std::int64_t classes) {
  return conv(3, 16, 9) + norm(16) + n * basic_count(16, 16) + basic_count(16, 32) + (n - 1) * basic_count(32, 32) +
         basic_count(32, 64) + (n - 1) * basic_count(64, 64) + biased(64, classes);
}

// A block of (1x1, 3x3, 1x1) with bias and a batch norm before each convolution.
std::int64_t v2_block_count(std::int64_t in, std::int64_t width, std::int64_t out) {
  return norm(in) + biased(in, width) + norm(width) + biased(width, width, 9) + norm(width) + biased(width, out);
}

std::int64_t resnet56v2_count(std::int64_t classes) {
  return biased(3, 16, 9) + norm(16) + v2_block_count(16, 16, 64) - norm(16) + biased(16, 64) +  //
         5 * v2_block_count(64, 16, 64) +                                                        //
         v2_block_count(64, 64, 128) + biased(64, 128) + 5 * v2_block_count(128, 64, 128) +      //
         v2_block_count(128, 128, 256) + biased(128, 256) + 5 * v2_block_count(256, 128, 256) +  //
         norm(256) + biased(256, classes);
}

std::int64_t densenet_count(std::int64_t channels, std::int64_t classes) {
  const std::int64_t growth = 12;
  std::int64_t in = 2 * growth;
  std::int64_t count = conv(channels, in, 9);
  for (int block = 0; block < 3; ++block) {
    for (int i = 0; i < 6; ++i, in += growth)
      count += norm(in) + conv(in, 4 * growth, 1) + norm(4 * growth) + conv(4 * growth, growth, 9);
    if (block == 2) break;
    count += norm(in) + conv(in, in / 2, 1);
    in /= 2;
  }
  return count + norm(in) + biased(in, classes);
}

std::int64_t landcover_count(std::int64_t classes) {
  std::int64_t count = 0;
  for (const std::int64_t channels : {4, 2, 1})
    count += biased(channels, 64, 9) + biased(64, 64, 9) + biased(64, 128, 9) + biased(128, 128, 9) +
             biased(128, 256, 9) + biased(256, 256, 9);
  return count + biased(768, 512) + biased(512, 512, 9) + biased(512 * 8 * 8, 1024) + biased(1024, classes);
}

std::int64_t resnet1d_count(std::int64_t channels, std::int64_t classes) {
  std::int64_t count = conv(channels, 32, 7) + norm(32);
  for (const auto& [in, out] : {std::pair{32, 32}, {32, 32}, {32, 64}, {64, 64}, {64, 128}, {128, 128}})
    count += conv(in, out, 3) + conv(out, out, 3) + 2 * norm(out) + (in == out ? 0 : conv(in, out, 1) + norm(out));
  return count + biased(128, classes);
}

struct Case {
  std::string model;
  ModelRequest options;
  std::int64_t count;
};

std::vector<Case> cases() {
  const std::vector<tensor::Shape> cifar{{3, 32, 32}}, mnist{{1, 28, 28}};
  return {
      {"lenet5", {}, 62006},
      {"lenet5", {}, lenet5_count(3, 16 * 5 * 5, 10)},
      {"lenet5", {.inputs = mnist}, 61706},
      {"lenet5", {.inputs = mnist, .classes = 100}, lenet5_count(1, 16 * 5 * 5, 100)},
      {"lenet5", {.inputs = {{3, 64, 64}}}, lenet5_count(3, 16 * 13 * 13, 10)},
      {"mnist-cnn", {}, 1199882},
      {"mnist-cnn",
       {.inputs = cifar},
       biased(3, 32, 9) + biased(32, 64, 9) + biased(64 * 14 * 14, 128) + biased(128, 10)},
      {"alexnet", {}, 57044810},
      {"alexnet", {.inputs = {{3, 224, 224}}, .classes = 1000}, 61100840},
      {"resnet18", {}, 11181642},
      {"resnet18", {.classes = 1000}, 11689512},
      {"resnet18", {.inputs = {{3, 224, 224}}, .classes = 100}, resnet18_count(49, 100)},
      {"resnet50", {}, 23528522},
      {"resnet50", {.classes = 1000}, 25557032},
      {"resnet50", {.classes = 100}, resnet50_count(100)},
      {"resnet18-cifar", {}, 11173962},
      {"resnet18-cifar", {.classes = 100}, resnet18_count(9, 100)},
      {"resnet20-cifar", {}, resnet_cifar_count(3, 10)},
      {"resnet32-cifar", {}, resnet_cifar_count(5, 10)},
      {"resnet44-cifar", {}, resnet_cifar_count(7, 10)},
      {"resnet50-cifar", {}, resnet_cifar_count(8, 10)},
      {"resnet50-cifar", {.classes = 100}, resnet_cifar_count(8, 100)},
      {"resnet56-cifar", {}, resnet_cifar_count(9, 10)},
      {"resnet110-cifar", {}, resnet_cifar_count(18, 10)},
      {"resnet56v2-cifar", {}, resnet56v2_count(10)},
      {"resnet56v2-cifar", {.classes = 100}, resnet56v2_count(100)},
      {"densenet40-12", {}, densenet_count(1, 10)},
      {"densenet40-12", {.inputs = cifar, .classes = 100}, densenet_count(3, 100)},
      {"redshift-cnn", {}, biased(1, 16, 8) + 2 * biased(16, 16, 8) + biased(16 * 218, 800)},
      {"redshift-cnn",
       {.inputs = {{2, 100}}, .classes = 1, .target = "values"},
       biased(2, 16, 8) + 2 * biased(16, 16, 8) + biased(16 * 6, 1)},
      {"mlp", {}, biased(784, 128) + biased(128, 64) + biased(64, 10)},
      {"mlp", {.inputs = {{1, 36}}, .classes = 6}, biased(36, 128) + biased(128, 64) + biased(64, 6)},
      {"mlp:hidden=256,128,dropout=.1", {.inputs = {{1, 36}}}, biased(36, 256) + biased(256, 128) + biased(128, 10)},
      {"mlp:hidden=7", {.inputs = {{2, 3, 4, 5}}, .classes = 1, .target = "values"}, biased(120, 7) + biased(7, 1)},
      {"mlp:hidden=none", {.inputs = {{9}}}, biased(9, 10)},
      {"landcover-cnn", {}, landcover_count(10)},
      {"resnet1d", {}, resnet1d_count(1, 10)},
      {"resnet1d", {.inputs = {{3, 140}}, .classes = 5}, resnet1d_count(3, 5)},
      {"landcover-cnn", {.classes = 43, .target = "labels"}, landcover_count(43)},
  };
}

TEST(Counts, AreExact) {
  for (const Case& test : cases())
    EXPECT_EQ(build_model(test.model, test.options).parameter_count(), test.count)
        << test.model << " with " << test.options.classes << " classes";
}

TEST(Counts, EveryModelHasACase) {
  const std::vector<Case> all = cases();
  for (const ModelRow& model : kZoo.rows())
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Case& c) { return c.model == model.name; }))
        << model.name;
}

// The studies' figures, in millions to the digits they state.
TEST(Counts, AgreeWithTheStudies) {
  const auto millions = [](const std::string& name) { return double(build_model(name).parameter_count()) / 1e6; };
  EXPECT_NEAR(millions("lenet5"), 0.062, 0.0005);
  EXPECT_NEAR(millions("mnist-cnn"), 1.20, 0.005);
  EXPECT_NEAR(millions("resnet18"), 11.18, 0.005);
  EXPECT_NEAR(millions("resnet50"), 23.53, 0.005);
  EXPECT_NEAR(millions("resnet18-cifar"), 11.17, 0.005);
  EXPECT_NEAR(millions("resnet50-cifar"), 0.76, 0.005);
  EXPECT_NEAR(millions("densenet40-12"), 0.18, 0.005);
  EXPECT_NEAR(millions("redshift-cnn"), 2.8, 0.05);
  EXPECT_NEAR(millions("landcover-cnn"), 39.75, 0.005);
}

// Keras counts the running statistics too: its example prints 1 673 738 parameters, 10 400 of them not trained.
TEST(Counts, ResNet56v2IsTheKerasExample) {
  const graph::Network net = build_model("resnet56v2-cifar");
  std::int64_t statistics = 0;
  for (const graph::ParameterInfo& parameter : net.parameters())
    if (parameter.spec.is_statistic()) statistics += parameter.spec.shape.count();
  EXPECT_EQ(net.parameter_count() + statistics, 1673738);
  EXPECT_EQ(statistics, 10400);
}

}  // namespace
}  // namespace trireme::models
