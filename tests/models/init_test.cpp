// Initial values: bounds and moments by the styles' definitions, and that nothing but seed, parameter and position
// decides them.
#include "models/init.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/error.h"
#include "base/rng.h"
#include "models/zoo.h"

namespace trireme::models {
namespace {

using ops::Role;
using tensor::Layout;
using tensor::ParameterSpace;

// The layouts kernels would ask for are played by blocks of 16 along dimension 1, with padding.
ParameterSpace space_of(const graph::Network& net, bool blocked) {
  std::vector<ParameterSpace::Entry> entries;
  for (const auto& parameter : net.parameters()) {
    const tensor::Shape& shape = parameter.spec.shape;
    const auto kind = parameter.spec.is_statistic() ? tensor::ParameterKind::statistic : tensor::ParameterKind::trained;
    const bool block = blocked && shape.rank() >= 2;
    entries.push_back(
        {parameter.name, kind, shape, block ? Layout::channels_blocked(shape, 16) : Layout::plain(shape)});
  }
  return ParameterSpace(entries);
}

std::map<std::string, std::vector<float>> initial(const graph::Network& net, std::string_view style, std::uint64_t seed,
                                                  bool blocked = false) {
  const ParameterSpace space = space_of(net, blocked);
  std::vector<float> buffer(static_cast<std::size_t>(space.floats()));
  initialize(net, space, buffer.data(), style, seed);
  std::map<std::string, std::vector<float>> values;
  for (const auto& range : space.ranges()) {
    auto& plain = values[range.name];
    plain.resize(static_cast<std::size_t>(range.count()));
    tensor::to_plain(range.layout, buffer.data() + range.offset, plain.data());
  }
  return values;
}

void expect_all(const std::vector<float>& values, float value, const std::string& name) {
  for (const float x : values) ASSERT_EQ(x, value) << name;
}

// Mean and variance within five standard errors; `kurtosis` is the fourth moment over the squared variance.
void expect_moments(const std::vector<float>& values, double variance, double kurtosis, const std::string& name) {
  const double n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const float x : values) sum += x, squares += static_cast<double>(x) * x;
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(variance / n)) << name;
  EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt((kurtosis - 1) / n)) << name;
}

void expect_uniform(const std::vector<float>& values, double bound, const std::string& name) {
  double largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(static_cast<double>(x)));
  EXPECT_LE(largest, bound * (1 + 1e-6)) << name;
  EXPECT_GT(largest, bound * (1 - 20.0 / static_cast<double>(values.size()))) << name;
  expect_moments(values, bound * bound / 3, 1.8, name);
}

TEST(Init, PytorchIsUniformByFanIn) {
  const auto values = initial(build_model("lenet5"), "pytorch", 1);
  const std::map<std::string, double> fan_in = {{"conv1", 75}, {"conv2", 150}, {"fc1", 400}, {"fc2", 120}, {"fc3", 84}};
  ASSERT_EQ(values.size(), 2 * fan_in.size());
  for (const auto& [layer, fan] : fan_in) {
    expect_uniform(values.at(layer + ".weight"), 1 / std::sqrt(fan), layer);
    expect_uniform(values.at(layer + ".bias"), 1 / std::sqrt(fan), layer + ".bias");
  }
}

TEST(Init, KerasIsGlorotWithZeroBias) {
  const auto values = initial(build_model("lenet5"), "keras", 1);
  expect_uniform(values.at("conv1.weight"), std::sqrt(6.0 / (75 + 150)), "conv1");
  expect_uniform(values.at("conv2.weight"), std::sqrt(6.0 / (150 + 400)), "conv2");
  expect_uniform(values.at("fc1.weight"), std::sqrt(6.0 / (400 + 120)), "fc1");
  for (const char* layer : {"conv1", "conv2", "fc1", "fc2", "fc3"})
    expect_all(values.at(std::string(layer) + ".bias"), 0, layer);
}

TEST(Init, HeIsNormalByFanOutForConvolutionsOnly) {
  const auto values = initial(build_model("resnet18"), "he", 1);
  expect_moments(values.at("conv1.weight"), 2.0 / (64 * 49), 3, "conv1");
  expect_moments(values.at("layer1.0.conv1.weight"), 2.0 / (64 * 9), 3, "layer1.0.conv1");
  expect_moments(values.at("layer4.0.downsample.0.weight"), 2.0 / 512, 3, "downsample");
  expect_uniform(values.at("fc.weight"), 1 / std::sqrt(512.0), "fc");
  expect_uniform(values.at("fc.bias"), 1 / std::sqrt(512.0), "fc.bias");
  const auto biased = initial(build_model("resnet56v2-cifar"), "he", 1);
  expect_all(biased.at("conv1.bias"), 0, "conv1.bias");
  expect_moments(biased.at("layer2.0.shortcut.weight"), 2.0 / 128, 3, "shortcut");
}

TEST(Init, BatchNormStartsAsTheIdentity) {
  const graph::Network net = build_model("resnet20-cifar");
  for (const std::string& style : init_styles()) {
    const auto values = initial(net, style, 3);
    int norms = 0;
    for (const auto& parameter : net.parameters()) {
      const Role role = parameter.spec.role;
      if (role == Role::scale || role == Role::running_variance)
        expect_all(values.at(parameter.name), 1, parameter.name);
      if (role == Role::shift || role == Role::running_mean) expect_all(values.at(parameter.name), 0, parameter.name);
      norms += role == Role::running_mean ? 1 : 0;
    }
    EXPECT_EQ(norms, 21);  // 19 convolutions, 2 projections
  }
}

TEST(Init, EveryValueIsTheCountersAtItsPosition) {
  const graph::Network net = build_model("lenet5", {.inputs = {{1, 28, 28}}});
  const auto values = initial(net, "pytorch", 42);
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    const auto& plain = values.at(net.parameters()[i].name);
    const base::CounterRng rng(42, base::Purpose::init, i);
    const double fan_in = static_cast<double>(net.parameters()[i & ~std::size_t{1}].spec.shape.count_from(1));
    for (const std::size_t p : {std::size_t{0}, plain.size() / 2, plain.size() - 1})
      EXPECT_FLOAT_EQ(plain[p], (2 * rng.uniform(p) - 1) * static_cast<float>(1 / std::sqrt(fan_in)));
  }
}

TEST(Init, DoesNotDependOnLayout) {
  for (const char* model : {"lenet5", "resnet20-cifar", "redshift-cnn"})
    for (const std::string& style : init_styles()) {
      const graph::Network net = build_model(model);
      EXPECT_EQ(initial(net, style, 5, false), initial(net, style, 5, true)) << model << " " << style;
    }
}

TEST(Init, PaddingIsZero) {
  const graph::Network net = build_model("lenet5");
  const ParameterSpace space = space_of(net, true);
  std::vector<float> buffer(static_cast<std::size_t>(space.floats()), 0.0f);
  for (const auto& range : space.ranges())
    std::fill_n(buffer.begin() + range.offset, range.floats(), 9.0f);  // what an earlier use left there
  initialize(net, space, buffer.data(), "pytorch", 1);
  std::int64_t not_zero = 0;
  for (const float x : buffer) not_zero += x != 0 ? 1 : 0;
  EXPECT_GT(space.floats(), net.parameter_count());
  EXPECT_NEAR(static_cast<double>(not_zero), static_cast<double>(net.parameter_count()), 2);  // a draw can be 0 itself
}

TEST(Init, SeedsAndParametersDiffer) {
  const graph::Network net = build_model("resnet20-cifar");
  const auto first = initial(net, "pytorch", 1), again = initial(net, "pytorch", 1), other = initial(net, "pytorch", 2);
  EXPECT_EQ(first, again);
  EXPECT_NE(first.at("conv1.weight"), other.at("conv1.weight"));
  EXPECT_NE(first.at("layer1.0.conv1.weight"), first.at("layer1.0.conv2.weight"));  // of one shape
}

TEST(Init, UnknownStyleIsAUserError) {
  const graph::Network net = build_model("lenet5");
  try {
    initial(net, "pytorchh", 1);
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::user);
    EXPECT_NE(std::string(error.what()).find("did you mean 'pytorch'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trireme::models
