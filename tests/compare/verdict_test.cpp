// What counts as equal, and what is named where it is not.
#include "compare/levels/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "compare/levels/update_equal.h"
#include "support/core_errors.h"

namespace trireme::compare {
namespace {

using support::contains;

store::NamedTensor tensor_of(const std::string& name, std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {name, tensor::Shape({count}), std::move(values)};
}

TEST(StartEqual, BitForBit) {
  const Tensors ours{tensor_of("conv.weight", {1, 2, 3}), tensor_of("conv.bias", {0})};
  EXPECT_TRUE(start_equal(ours, ours).passed);
  Tensors theirs = ours;
  theirs[0].values[1] = std::nextafter(2.0f, 3.0f);
  EXPECT_FALSE(start_equal(ours, theirs).passed);
  EXPECT_TRUE(contains(start_equal(ours, theirs).summary, "conv.weight[1]"));
  theirs = ours;
  theirs[1].values[0] = -0.0f;
  EXPECT_FALSE(start_equal(ours, theirs).passed) << "minus zero has other bits";
}

TEST(StartEqual, NamesAndShapes) {
  const Tensors ours{tensor_of("a", {1, 2}), tensor_of("b", {3})};
  EXPECT_TRUE(contains(start_equal(ours, {tensor_of("a", {1, 2})}).summary, "2 parameters"));
  EXPECT_TRUE(
      contains(start_equal(ours, {tensor_of("b", {3}), tensor_of("a", {1, 2})}).summary, "is a here and b there"));
  EXPECT_TRUE(contains(start_equal(ours, {tensor_of("a", {1, 2, 3}), tensor_of("b", {3})}).summary, "a is 2 here"));
}

TEST(Bands, AreWhatPerturbedStepsDo) {
  const Tensors reference{tensor_of("gradient.a", {3, 4}), tensor_of("output", {1}),
                          tensor_of("weight.running_mean", {1})};
  Bands bands;
  bands.learn(reference, {tensor_of("gradient.a", {3, 4.05f}), reference[1], reference[2]});
  const auto judged = [&](const std::vector<float>& gradient) {
    return bands.judge({tensor_of("gradient.a", gradient), reference[1], reference[2]}, reference);
  };
  EXPECT_NEAR(judged({3, 4.05f})[0].error, 0.01, 1e-6);
  EXPECT_LT(judged({3, 4.05f})[0].excess(), 1);
  EXPECT_GT(judged({3, 4.25f})[0].excess(), 1) << "a twentieth is more than four times a hundredth";
  EXPECT_EQ(judged({3, 4})[0].excess(), 0);
  EXPECT_GT(judged({3, std::numeric_limits<float>::quiet_NaN()})[0].excess(), 1);
  // What was learnt of gradients says nothing of outputs.
  EXPECT_GT(bands.judge({tensor_of("gradient.a", {3, 4}), tensor_of("output", {1.001f})}, reference)[1].excess(), 1);
}

TEST(Bands, EveryTensorHasItsOwn) {
  // A bias before a batch norm: its gradient is zero but for rounding.
  const Tensors reference{tensor_of("gradient.conv.bias", {1e-8f, -2e-8f}), tensor_of("gradient.conv.weight", {1, 2})};
  Bands bands;
  bands.learn(reference,
              {tensor_of("gradient.conv.bias", {-3e-7f, 4e-7f}), tensor_of("gradient.conv.weight", {1, 2.0001f})});
  const auto judged = bands.judge(
      {tensor_of("gradient.conv.bias", {5e-8f, 1e-8f}), tensor_of("gradient.conv.weight", {1.01f, 2})}, reference);
  EXPECT_LT(judged[0].excess(), 1);
  EXPECT_GT(judged[1].excess(), 1) << "its noise says nothing of the weight";
}

TEST(Bands, WhatIsZeroThereMayBeATraceHere) {
  const Tensors reference{tensor_of("gradient.a", {0, 0}), tensor_of("gradient.b", {1, 2})};
  Bands bands;
  bands.learn(reference, reference);
  const auto judged = [&](float value) {
    return bands.judge({tensor_of("gradient.a", {value, 0}), reference[1]}, reference)[0];
  };
  EXPECT_LT(judged(1e-12f).excess(), 1);
  EXPECT_GT(judged(1e-3f).excess(), 1);
  EXPECT_LT(judged(1e-3f).error, 1e6) << "a number that means something";
}

TEST(Bands, ACommonFactorIsSeenWhereJumpsHideIt) {
  std::vector<float> gradient(1000, 1), jumped = gradient, scaled = gradient;
  for (std::size_t i = 0; i < gradient.size(); ++i) jumped[i] += i % 2 ? 0.01f : -0.01f;
  for (float& value : scaled) value *= 1.001f;
  const Tensors reference{tensor_of("gradient.a", gradient)};
  Bands bands;
  bands.learn(reference, {tensor_of("gradient.a", jumped)});
  const auto judged = bands.judge({tensor_of("gradient.a", scaled)}, reference);
  EXPECT_LT(judged[0].excess(), 1);
  ASSERT_NE(first_of(judged), nullptr);
  EXPECT_EQ(first_of(judged)->name, "scale of all gradients");
}

TEST(Bands, LeaveTheUpdateToItsOwnLimits) {
  const Tensors reference{tensor_of("gradient.a", {1}), tensor_of("weight.a", {1}), tensor_of("slot.momentum.a", {1})};
  Bands bands;
  bands.learn(reference, reference);
  for (const Difference& one : bands.judge(reference, reference)) EXPECT_FALSE(is_of_update(one.name)) << one.name;
}

TEST(UpdateEqual, WeightsAreComparedByHowTheyMove) {
  const Tensors before{tensor_of("weight.a", {1, 1})}, theirs{tensor_of("weight.a", {1.001f, 1})};
  const auto excess = [&](float value) {
    return compare_update({tensor_of("weight.a", {value, 1})}, theirs, before, 1).at(0).excess();
  };
  EXPECT_LT(excess(std::nextafter(1.001f, 2.0f)), 1);
  EXPECT_GT(excess(1.00101f), 1) << "a hundredth of the move, a hundred-thousandth of the weight";
}

TEST(UpdateEqual, AStateThatIsNotKeptThere) {
  const auto all = compare_update({tensor_of("slot.momentum.a", {1e-4f})}, {tensor_of("slot.momentum.a", {0})}, {}, 1);
  EXPECT_GT(all.at(0).excess(), 1);
  EXPECT_DOUBLE_EQ(all[0].error, 1);
}

TEST(Bands, WhatAStepMakesFirstIsNamed) {
  EXPECT_EQ(first_of({{"loss", 1, 2}, {"weight.a", 1, 2}}), nullptr);
  const std::vector<Difference> all{{"output", 9, 1},     {"weight.a", 8, 1}, {"gradient.a", 2, 1},
                                    {"gradient.b", 3, 1}, {"loss", 1, 2},     {"weight.a.running_mean", 1, 2}};
  ASSERT_NE(first_of(all), nullptr);
  EXPECT_EQ(first_of(all)->name, "gradient.b");
  EXPECT_EQ(worst_of(all).name, "output");
}

TEST(Bands, KeepWhatTheyHaveSeen) {
  const Tensors reference{tensor_of("loss", {1})};
  Bands bands;
  bands.learn(reference, {tensor_of("loss", {1.01f})});
  bands.learn(reference, reference);
  EXPECT_LT(bands.judge({tensor_of("loss", {1.02f})}, reference)[0].excess(), 1);
}

TEST(Bands, WhatIsMissingIsNamed) {
  Bands bands;
  bands.learn({tensor_of("loss", {1})}, {tensor_of("loss", {1})});
  try {
    (void)bands.judge({tensor_of("loss", {1})}, {tensor_of("other", {1})});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_TRUE(contains(error.what(), "loss")) << error.what();
  }
}

}  // namespace
}  // namespace trireme::compare
