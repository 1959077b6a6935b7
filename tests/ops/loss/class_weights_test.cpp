// Class weights in the softmax cross-entropy: against the reference, the reference against finite differences, and
// weights of 1 against none.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/loss/weighted_loss.h"

namespace trireme::ops {
namespace {

Reference reference_of(const WeightedLoss& given, std::span<const float> weights) {
  Reference r;
  r.shapes = {{WeightedLoss::kSamples, WeightedLoss::kClasses}, {WeightedLoss::kSamples, 1}};
  r.src = {{given.prediction.begin(), given.prediction.end()}, {given.labels.begin(), given.labels.end()}};
  r.dst.resize(given.labels.size());
  r.diff_src = {std::vector<double>(given.prediction.size()), {}};
  r.run.loss_scale = given.scale;
  r.run.class_weights = weights;
  return r;
}

TEST(ClassWeightsOfTheLoss, KernelEqualsReference) {
  const WeightedLoss given;
  Reference r = reference_of(given, given.weights);
  softmax_cross_entropy()->reference_forward(r);
  softmax_cross_entropy()->reference_backward(r);
  const WeightedLoss::Result got = given.run(given.weights);
  for (std::size_t n = 0; n < r.dst.size(); ++n) EXPECT_NEAR(got.losses[n], r.dst[n], 1e-5);
  for (std::size_t i = 0; i < r.diff_src[0].size(); ++i) EXPECT_NEAR(got.gradient[i], r.diff_src[0][i], 1e-7);
  EXPECT_NEAR(got.loss, r.run.loss, 1e-4);
  EXPECT_EQ(got.correct, r.run.correct) << "weights do not change what is right";
}

TEST(ClassWeightsOfTheLoss, ReferenceGradientIsThatOfFiniteDifferences) {
  const WeightedLoss given;
  Reference r = reference_of(given, given.weights);
  softmax_cross_entropy()->reference_backward(r);
  const auto loss_with = [&](std::size_t i, double step) {
    Reference moved = reference_of(given, given.weights);
    moved.src[0][i] += step;
    softmax_cross_entropy()->reference_forward(moved);
    return moved.run.loss * static_cast<double>(given.scale);
  };
  constexpr double kStep = 1e-4;
  for (std::size_t i = 0; i < r.src[0].size(); ++i)
    EXPECT_NEAR(r.diff_src[0][i], (loss_with(i, kStep) - loss_with(i, -kStep)) / (2 * kStep), 1e-9) << i;
}

TEST(ClassWeightsOfTheLoss, OnesAndNoneAreTheSameBits) {
  const WeightedLoss given;
  const WeightedLoss::Result none = given.run({}), ones = given.run(std::vector<float>(WeightedLoss::kClasses, 1.0f));
  EXPECT_EQ(none.losses, ones.losses);
  EXPECT_EQ(none.gradient, ones.gradient);
  EXPECT_EQ(none.loss, ones.loss);
}

TEST(ClassWeightsOfTheLoss, AWeightOfZeroLeavesItsSamplesOut) {
  const WeightedLoss given;
  const WeightedLoss::Result got = given.run(given.weights);
  for (std::size_t n = 0; n < given.labels.size(); ++n) {
    if (given.labels[n] != 2) continue;
    EXPECT_EQ(got.losses[n], 0);
    for (std::size_t k = 0; k < WeightedLoss::kClasses; ++k) EXPECT_EQ(got.gradient[n * WeightedLoss::kClasses + k], 0);
  }
}

}  // namespace
}  // namespace trireme::ops
