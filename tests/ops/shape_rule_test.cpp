// What does not fit is a user's mistake with a sentence that names the values, never a crash or a wrong shape; and the
// shapes and costs that do fit follow their formulas.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "ops/activation/activation.h"
#include "ops/activation/dropout.h"
#include "ops/conv/conv.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/merge/flatten.h"
#include "ops/merge/merge.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"

namespace trireme::ops {
namespace {

using Shapes = std::vector<Shape>;

struct Mistake {
  std::string name;
  std::function<void()> make;
  std::vector<std::string> named;  // what the sentence must say
};

std::vector<Mistake> mistakes() {
  const auto on = [](const std::function<OpPtr()>& op, const Shapes& src) { return [=] { (void)op()->output(src); }; };
  const auto conv2 = [](ConvOptions o) { return [=] { return conv(o); }; };
  const auto pool2 = [](PoolOptions o) { return [=] { return max_pool(o); }; };
  return {
      {"kernel larger than its input",
       on(conv2({.channels = 4, .kernel = {5, 5}}), {{2, 3, 4, 8}}),
       {"kernel", "5", "4"}},
      {"kernel larger than its padded input",
       on(conv2({.channels = 4, .kernel = {7}, .padding = {1}}), {{1, 3, 4}}),
       {"7", "6"}},
      {"convolution of flat samples", on(conv2({.channels = 4, .kernel = {3, 3}}), {{2, 30}}), {"2-D", "30"}},
      {"2-D convolution of 1-D samples", on(conv2({.channels = 4, .kernel = {3, 3}}), {{2, 3, 30}}), {"2-D", "3x30"}},
      {"1-D convolution of images", on(conv2({.channels = 4, .kernel = {3}}), {{2, 3, 8, 8}}), {"1-D", "3x8x8"}},
      {"groups and input channels",
       on(conv2({.channels = 4, .kernel = {3}, .groups = 2}), {{2, 3, 8}}),
       {"2 groups", "3"}},
      {"groups and output channels",
       on(conv2({.channels = 5, .kernel = {3}, .groups = 2}), {{2, 4, 8}}),
       {"2 groups", "5"}},
      {"negative padding", conv2({.channels = 4, .kernel = {3, 3}, .padding = {1, -1}}), {"padding -1"}},
      {"stride 0", conv2({.channels = 4, .kernel = {3, 3}, .stride = {0, 1}}), {"stride 0"}},
      {"kernel 0", conv2({.channels = 4, .kernel = {0}}), {"kernel 0"}},
      {"no kernel", conv2({.channels = 4, .kernel = {}}), {"1 or 2", "0"}},
      {"3-D kernel", conv2({.channels = 4, .kernel = {3, 3, 3}}), {"1 or 2", "3"}},
      {"one stride for two sizes", conv2({.channels = 4, .kernel = {3, 3}, .stride = {2}}), {"2, 1 and 2"}},
      {"no output channels", conv2({.channels = 0, .kernel = {3}}), {"channels", "0"}},
      {"no groups", conv2({.channels = 4, .kernel = {3}, .groups = 0}), {"groups", "0"}},
      {"dense of images", on([] { return dense({.outputs = 10}); }, {{2, 3, 8, 8}}), {"flatten", "3x8x8"}},
      {"dense without outputs", [] { dense({.outputs = 0}); }, {"output", "0"}},
      {"dense with -1 outputs", [] { dense({.outputs = -1}); }, {"output", "-1"}},
      {"window larger than its input", on(pool2({.kernel = {3, 3}}), {{2, 3, 8, 2}}), {"window", "3", "2"}},
      {"pooling of flat samples", on(pool2({.kernel = {2, 2}}), {{2, 30}}), {"2-D", "30"}},
      {"1-D pooling of images", on(pool2({.kernel = {2}}), {{2, 3, 8, 8}}), {"1-D", "3x8x8"}},
      {"padding above half the window", pool2({.kernel = {3}, .padding = {2}}), {"padding 2", "half"}},
      {"negative pool padding", pool2({.kernel = {3}, .padding = {-1}}), {"padding -1"}},
      {"pool stride 0", [] { average_pool({.kernel = {3}, .stride = {0}}); }, {"stride 0"}},
      {"no window", pool2({.kernel = {}}), {"1 or 2", "0"}},
      {"global pooling of flat samples", on([] { return global_average_pool(); }, {{2, 30}}), {"spatial", "30"}},
      {"adaptive to nothing",
       [] {
         adaptive_average_pool({0, 2});
       },
       {"at least 1", "0"}},
      {"adaptive to three sizes",
       [] {
         adaptive_average_pool({1, 2, 3});
       },
       {"1 or 2", "3"}},
      {"adaptive 2-D of 1-D samples",
       on(
           [] {
             return adaptive_average_pool({2, 2});
           },
           {{2, 3, 30}}),
       {"3x30"}},
      {"batch norm of bare values", on([] { return batch_norm(); }, {{2}}), {"batch norm"}},
      {"batch norm of five sizes", on([] { return batch_norm(); }, {{2, 3, 4, 4, 4}}), {"3x4x4x4"}},
      {"batch norm adding another shape",
       on([] { return batch_norm({.add = true}); }, {{2, 3, 4}, {2, 3, 5}}),
       {"3x4", "3x5"}},
      {"epsilon 0", [] { batch_norm({.epsilon = 0}); }, {"epsilon", "0"}},
      {"epsilon NaN", [] { batch_norm({.epsilon = std::nan("")}); }, {"epsilon", "nan"}},
      {"momentum 1.5", [] { batch_norm({.momentum = 1.5}); }, {"momentum", "1.5"}},
      {"dropout of everything", [] { dropout(1.0, 1); }, {"below 1", "got 1"}},
      {"dropout rate -0.1", [] { dropout(-0.1, 1); }, {"-0.1"}},
      {"dropout rate NaN", [] { dropout(std::nan(""), 1); }, {"nan"}},
      {"add of two shapes", on([] { return add(); }, {{2, 3, 4, 4}, {2, 3, 4, 5}}), {"3x4x4", "3x4x5"}},
      {"add of two ranks", on([] { return add(); }, {{2, 12}, {2, 3, 4}}), {"12", "3x4"}},
      {"concat of two heights", on([] { return concat(); }, {{2, 3, 4, 4}, {2, 3, 5, 4}}), {"3x4x4", "3x5x4"}},
      {"concat of two ranks", on([] { return concat(); }, {{2, 12}, {2, 3, 4}}), {"12", "3x4"}},
      {"concat of nothing", on([] { return concat(); }, {}), {"at least one"}},
      {"concat of bare values", on([] { return concat(); }, {{2}, {2}}), {"concat"}},
      {"flatten of bare values", on([] { return flatten(); }, {{2}}), {"flatten"}},
      {"softmax of images", on([] { return softmax_cross_entropy(); }, {{2, 3, 8, 8}}), {"3x8x8", "flatten"}},
      {"a class index per class", on([] { return softmax_cross_entropy(); }, {{2, 10}, {2, 10}}), {"2x10", "2x1"}},
      {"too few labels", on([] { return sigmoid_cross_entropy(); }, {{2, 10}, {2, 9}}), {"2x10", "2x9"}},
      {"targets of another batch", on([] { return squared_error(); }, {{2, 10}, {3, 10}}), {"2x10", "3x10"}},
  };
}

TEST(ShapeRules, MistakesAreTheUsersAndNameTheValues) {
  for (const Mistake& mistake : mistakes()) {
    SCOPED_TRACE(mistake.name);
    try {
      mistake.make();
      ADD_FAILURE() << "no error";
    } catch (const base::Error& error) {
      const std::string sentence = error.what();
      EXPECT_EQ(error.kind(), base::ErrorKind::user) << sentence;
      for (const std::string& word : mistake.named)
        EXPECT_NE(sentence.find(word), std::string::npos) << "'" << word << "' is not in: " << sentence;
    }
  }
}

struct Fit {
  OpPtr op;
  Shapes src;
  Shape dst;
};

TEST(ShapeRules, OutputsFollowTheFormulas) {
  const std::vector<Fit> fits{
      {conv({.channels = 8, .kernel = {3, 3}}), {{2, 3, 9, 7}}, {2, 8, 7, 5}},
      {conv({.channels = 8, .kernel = {3, 3}, .padding = {1, 1}}), {{2, 3, 9, 7}}, {2, 8, 9, 7}},
      {conv({.channels = 64, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}}),
       {{1, 3, 224, 224}},
       {1, 64, 112, 112}},
      {conv({.channels = 8, .kernel = {2, 5}, .stride = {3, 1}, .padding = {0, 2}}), {{2, 3, 9, 7}}, {2, 8, 3, 7}},
      {conv({.channels = 8, .kernel = {8}}), {{5, 1, 8}}, {5, 8, 1}},
      {dense({.outputs = 7}), {{3, 5}}, {3, 7}},
      {max_pool({.kernel = {2, 2}}), {{2, 3, 9, 8}}, {2, 3, 4, 4}},
      {max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}), {{1, 64, 112, 112}}, {1, 64, 56, 56}},
      {average_pool({.kernel = {4}}), {{2, 3, 11}}, {2, 3, 2}},
      {global_average_pool(), {{2, 3, 9, 8}}, {2, 3, 1, 1}},
      {global_average_pool(), {{2, 3, 9}}, {2, 3, 1}},
      {adaptive_average_pool({6, 6}), {{2, 3, 13, 4}}, {2, 3, 6, 6}},
      {batch_norm({.add = true}), {{2, 3, 4}, {2, 3, 4}}, {2, 3, 4}},
      {concat(), {{2, 3, 4, 4}, {2, 5, 4, 4}, {2, 1, 4, 4}}, {2, 9, 4, 4}},
      {concat(), {{2, 3}}, {2, 3}},
      {flatten(), {{2, 3, 4, 5}}, {2, 60}},
      {softmax_cross_entropy(), {{2, 10}}, {2, 1}},  // with the prediction alone: the target's shape
      {softmax_cross_entropy(), {{2, 10}, {2, 1}}, {2, 1}},
      {sigmoid_cross_entropy(), {{2, 10}}, {2, 10}},
      {squared_error(), {{2, 10}, {2, 10}}, {2, 1}},
  };
  for (const Fit& fit : fits) EXPECT_EQ(fit.op->output(fit.src).text(), fit.dst.text()) << fit.op->kind();
}

TEST(ShapeRules, ParametersCarryTheirFans) {
  const Shapes image{{2, 6, 8, 8}};
  const auto of_conv = conv({.channels = 12, .kernel = {3, 5}, .groups = 2})->parameters(image);
  ASSERT_EQ(of_conv.size(), 2u);
  EXPECT_EQ(of_conv[0].shape.text(), "12x3x3x5");
  EXPECT_EQ(of_conv[0].fan_in, 3 * 15);
  EXPECT_EQ(of_conv[0].fan_out, 6 * 15);
  EXPECT_EQ(of_conv[1].shape.text(), "12");
  EXPECT_EQ(conv({.channels = 12, .kernel = {3, 3}, .bias = false})->parameters(image).size(), 1u);
  const auto of_dense = dense({.outputs = 7})->parameters(Shapes{{3, 5}});
  EXPECT_EQ(of_dense[0].shape.text(), "7x5");
  EXPECT_EQ(of_dense[0].fan_in, 5);
  EXPECT_EQ(of_dense[0].fan_out, 7);
  const auto of_norm = batch_norm()->parameters(image);
  ASSERT_EQ(of_norm.size(), 4u);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(of_norm[p].shape.text(), "6");
    EXPECT_EQ(of_norm[p].is_statistic(), p >= 2);
  }
}

// A multiplication and an addition per product; inputs, outputs and weights move once.
TEST(Cost, OfConvolutionAndDense) {
  const auto plain = conv({.channels = 64, .kernel = {3, 3}, .padding = {1, 1}})->cost(Shapes{{32, 16, 10, 12}});
  EXPECT_DOUBLE_EQ(plain.flops, 2.0 * 32 * 64 * 10 * 12 * 16 * 9);
  EXPECT_DOUBLE_EQ(plain.bytes, 4.0 * (32 * 16 * 10 * 12 + 32 * 64 * 10 * 12 + 64 * 16 * 9));
  const auto grouped =
      conv({.channels = 8, .kernel = {3, 5}, .stride = {2, 1}, .groups = 4})->cost(Shapes{{2, 4, 7, 9}});
  EXPECT_DOUBLE_EQ(grouped.flops, 2.0 * 2 * 8 * 3 * 5 * 1 * 15);
  const auto line = conv({.channels = 16, .kernel = {8}})->cost(Shapes{{3, 2, 20}});
  EXPECT_DOUBLE_EQ(line.flops, 2.0 * 3 * 16 * 13 * 2 * 8);
  const auto full = dense({.outputs = 10})->cost(Shapes{{5, 800}});
  EXPECT_DOUBLE_EQ(full.flops, 2.0 * 5 * 800 * 10);
  EXPECT_DOUBLE_EQ(full.bytes, 4.0 * (5 * 800 + 5 * 10 + 800 * 10));
}

TEST(Cost, OfTheOthersMovesAtLeastTheirValues) {
  const Shapes one{{2, 6, 8, 8}}, two{{2, 6, 8, 8}, {2, 6, 8, 8}};
  const double values = 2 * 6 * 8 * 8;
  EXPECT_GE(relu()->cost(one).bytes, 4 * 2 * values);
  EXPECT_GE(add()->cost(two).bytes, 4 * 3 * values);
  EXPECT_GE(batch_norm({.add = true})->cost(two).bytes, 4 * 3 * values);
  EXPECT_GE(max_pool({.kernel = {2, 2}})->cost(one).bytes, 4 * 1.25 * values);
  EXPECT_GE(batch_norm()->cost(one).flops, values);
  EXPECT_EQ(flatten()->cost(one).flops, 0);
  EXPECT_EQ(flatten()->cost(one).bytes, 0);
}

}  // namespace
}  // namespace trireme::ops
