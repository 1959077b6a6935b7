// Values at the edges: zeros, ties, huge numbers, NaN, wrong labels; and what dropout's and batch norm's numbers mean.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "ops/activation/activation.h"
#include "ops/activation/dropout.h"
#include "ops/cases/kernel_run.h"
#include "ops/loss/l2_penalty.h"
#include "ops/loss/loss.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"

namespace trireme::optest {
namespace {

using tensor::Layout;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

// The kernel's answer to given numbers, in plain layout; every gradient in is 1.
KernelResult answer(OpPtr op, const std::vector<Shape>& shapes, const std::vector<std::vector<double>>& src,
                    const std::vector<std::vector<double>>& weights = {}, bool training = true) {
  const OpCase c{.op = std::move(op), .shapes = shapes};
  CaseData data;
  data.exact.src = src;
  data.exact.weights = weights;
  for (std::size_t s = 0; s < src.size(); ++s)
    data.exact.diff_src.emplace_back(c.op->is_loss() && s == 1 ? 0 : src[s].size());
  data.diff_dst.assign(static_cast<std::size_t>(c.op->output(shapes).count()), 1.0);
  std::vector<Layout> offered;
  for (const Shape& shape : shapes) offered.push_back(Layout::plain(shape));
  return run_kernel(c, data, {.offered = offered, .training = training});
}

TEST(Activations, AtTheEdges) {
  const std::vector<double> x{0.0, -0.0, 1e30, -1e30, kInfinity, -kInfinity, kNan, 1e-30};
  const KernelResult relu = answer(ops::relu(), {{2, 4}}, {x});
  const std::vector<float> expected{0, 0, 1e30f, 0, kInfinity, 0, kNan, 1e-30f}, slope{0, 0, 1, 0, 1, 0, 0, 1};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i != 6) {
      EXPECT_EQ(relu.dst[i], expected[i]) << i;
      EXPECT_EQ(relu.diff_src[0][i], slope[i]) << i;
    }
  }
  EXPECT_TRUE(std::isnan(relu.dst[6])) << "a NaN must not disappear in a ReLU";
  const KernelResult tanh = answer(ops::tanh(), {{2, 4}}, {x}), sigmoid = answer(ops::sigmoid(), {{2, 4}}, {x});
  const std::vector<float> of_tanh{0, 0, 1, -1, 1, -1}, of_sigmoid{0.5f, 0.5f, 1, 0, 1, 0};
  for (std::size_t i = 0; i < of_tanh.size(); ++i) {
    EXPECT_EQ(tanh.dst[i], of_tanh[i]) << i;
    EXPECT_EQ(sigmoid.dst[i], of_sigmoid[i]) << i;
    EXPECT_EQ(tanh.diff_src[0][i], i < 2 ? 1 : 0) << i;
    EXPECT_EQ(sigmoid.diff_src[0][i], i < 2 ? 0.25f : 0) << i;
  }
  EXPECT_TRUE(std::isnan(tanh.dst[6]));
  EXPECT_TRUE(std::isnan(sigmoid.dst[6]));
}

// The gradient of a maximum that occurs twice goes to one of them, whole.
TEST(MaxPool, GivesTiesToOne) {
  const KernelResult got = answer(ops::max_pool({.kernel = {2, 2}}), {{1, 1, 2, 2}}, {{3, 3, 3, 3}});
  EXPECT_EQ(got.dst[0], 3);
  float sum = 0;
  for (const float diff : got.diff_src[0]) {
    EXPECT_TRUE(diff == 0 || diff == 1) << diff;
    sum += diff;
  }
  EXPECT_EQ(sum, 1);
}

// Padding is below every value, not zero.
TEST(MaxPool, PaddingNeverWins) {
  const KernelResult got =
      answer(ops::max_pool({.kernel = {3}, .stride = {2}, .padding = {1}}), {{1, 1, 4}}, {{-5, -7, -6, -8}});
  EXPECT_EQ(got.dst, (std::vector<float>{-5, -6}));
}

TEST(SoftmaxLoss, SurvivesHugeValuesAndKnowsEqualOnes) {
  const std::vector<double> rows{1e30, 0, -1e30, 5, 5, 5, 0, 1e30, 0};
  const KernelResult got = answer(ops::softmax_cross_entropy(), {{3, 3}, {3, 1}}, {rows, {0, 0, 1}});
  EXPECT_EQ(got.dst[0], 0);
  EXPECT_NEAR(got.dst[1], std::log(3.0), 1e-6);
  EXPECT_EQ(got.dst[2], 0);
  EXPECT_EQ(got.correct, 3) << "of equal values the first is the prediction";
  EXPECT_EQ(answer(ops::softmax_cross_entropy(), {{1, 3}, {1, 1}}, {{5, 5, 5}, {2}}).correct, 0);
  const std::vector<float> row{0, 0, 0};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(got.diff_src[0][i], row[i]);
  EXPECT_NEAR(got.diff_src[0][3], 0.25 * (1.0 / 3 - 1), 1e-7);
  EXPECT_NEAR(got.diff_src[0][4], 0.25 / 3, 1e-7);
  const KernelResult wrong = answer(ops::softmax_cross_entropy(), {{1, 2}, {1, 1}}, {{1000, 0}, {1}});
  EXPECT_EQ(wrong.dst[0], 1000);
  EXPECT_TRUE(std::isnan(answer(ops::softmax_cross_entropy(), {{1, 2}, {1, 1}}, {{kNan, 0}, {1}}).dst[0]));
}

TEST(SigmoidLoss, SurvivesHugeValues) {
  const KernelResult got =
      answer(ops::sigmoid_cross_entropy(), {{1, 4}, {1, 4}}, {{1e30, -1e30, 200, -200}, {1, 0, 0, 1}});
  EXPECT_EQ(got.dst[0], 100);
  EXPECT_EQ(got.correct, 0.5);
  EXPECT_EQ(got.diff_src[0], (std::vector<float>{0, 0, 0.0625f, -0.0625f}));
}

TEST(SoftmaxLoss, WrongLabelsStopTheRunAndNameTheSample) {
  for (const double label : {-1.0, 10.0, 1e30, 2.5, static_cast<double>(kNan)}) {
    std::vector<double> labels(13, 3);
    labels[4] = label;
    try {
      answer(ops::softmax_cross_entropy(), {{13, 10}, {13, 1}}, {std::vector<double>(130, 0.5), labels});
      ADD_FAILURE() << "no error for the label " << label;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::run);
      const std::string sentence = error.what();
      EXPECT_NE(sentence.find(std::to_string(oar_run(13).sample_indices[4])), std::string::npos) << sentence;
      EXPECT_NE(sentence.find("0 to 9"), std::string::npos) << sentence;
    }
  }
}

// Mean 2.5 and unbiased variance 5/3, summed over 4 samples; the normalised values use the biased variance 5/4.
TEST(BatchNorm, StatisticsOfKnownNumbers) {
  const KernelResult got = answer(ops::batch_norm({.epsilon = 1e-12}), {{4, 1}}, {{1, 2, 3, 4}}, {{2}, {10}, {0}, {1}});
  EXPECT_NEAR(got.diff_weights[2][0], 4 * 2.5, 1e-5);
  EXPECT_NEAR(got.diff_weights[3][0], 4 * 5.0 / 3, 1e-5);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(got.dst[i], 10 + 2 * (static_cast<double>(i) - 1.5) / std::sqrt(1.25), 1e-5);
  // All gradients equal: nothing is left for src and scale.
  for (const float diff : got.diff_src[0]) EXPECT_NEAR(diff, 0, 1e-6);
  EXPECT_NEAR(got.diff_weights[0][0], 0, 1e-5);
  EXPECT_EQ(got.diff_weights[1][0], 4);
}

// A mean far from 0 must not eat the variance: 10000 with steps of 1/4 has variance 1/16 * 5/4.
TEST(BatchNorm, KeepsAVarianceBesideALargeMean) {
  const KernelResult got = answer(ops::batch_norm({.epsilon = 1e-12}), {{4, 1}}, {{10000, 10000.25, 10000.5, 10000.75}},
                                  {{1}, {0}, {0}, {1}});
  EXPECT_NEAR(got.diff_weights[3][0], 4 * 5.0 / 3 / 16, 1e-6);
  const KernelResult constant = answer(ops::batch_norm(), {{4, 1}}, {{3, 3, 3, 3}}, {{1}, {0.5}, {0}, {1}});
  for (const float value : constant.dst) EXPECT_NEAR(value, 0.5, 1e-4);
}

TEST(BatchNorm, MomentumIsKnownToTheCrew) {
  EXPECT_EQ(ops::batch_norm({.momentum = 0.25})->statistics_momentum(), 0.25);
  EXPECT_EQ(ops::batch_norm({.momentum = 0.25})->with_relu()->statistics_momentum(), 0.25);
  EXPECT_EQ(ops::relu()->statistics_momentum(), 0);
}

// The elements that stay, of a value of ones.
std::vector<bool> kept(double rate, std::uint64_t stream, ops::OarRun run, std::int64_t count) {
  Reference r;
  r.shapes = {{1, count}};
  r.run = run;
  r.src = {std::vector<double>(static_cast<std::size_t>(count), 1.0)};
  r.dst.resize(r.src[0].size());
  ops::dropout(rate, stream)->reference_forward(r);
  std::vector<bool> stays;
  for (const double value : r.dst) stays.push_back(value != 0);
  return stays;
}

TEST(Dropout, KeepsTheAskedShareAndDrawsAnewForEverything) {
  constexpr std::int64_t kCount = 10000;
  const std::int64_t other_sample[] = {8};
  const ops::OarRun run = oar_run(1);
  for (const double rate : {0.1, 0.5, 0.9}) {
    const std::vector<bool> stays = kept(rate, 1, run, kCount);
    const double share = static_cast<double>(std::count(stays.begin(), stays.end(), true)) / kCount;
    EXPECT_NEAR(share, 1 - rate, 5 * std::sqrt(rate * (1 - rate) / kCount));  // five standard deviations
  }
  ops::OarRun epoch = run, seed = run, sample = run;
  ++epoch.epoch;
  ++seed.seed;
  sample.sample_indices = other_sample;
  const std::set<std::vector<bool>> masks{kept(0.5, 1, run, kCount), kept(0.5, 2, run, kCount),
                                          kept(0.5, 1, epoch, kCount), kept(0.5, 1, seed, kCount),
                                          kept(0.5, 1, sample, kCount)};
  EXPECT_EQ(masks.size(), 5u);
}

// A sum of squares of 0, 1, ..., 15 repeated is known; small integers keep it exact.
TEST(L2, SumsSquaresExactlyOfAnyCount) {
  const base::Isa before = base::active_isa();
  for (const std::int64_t count : {0, 1, 15, 16, 17, 4095, 4096, 4097, 12289, 1'000'003}) {
    std::vector<float> weights(static_cast<std::size_t>(count));
    double expected = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(static_cast<int>(i % 16) - 8);
      expected += static_cast<double>(weights[i] * weights[i]);
    }
    for (const base::Isa isa : {base::Isa::generic, base::Isa::avx2, base::Isa::avx512}) {
      if (isa > base::best_isa()) continue;
      base::set_active_isa(isa);
      EXPECT_EQ(ops::l2_sum(weights.data(), count), expected) << count;
    }
  }
  base::set_active_isa(before);
}

TEST(L2, IsTheSameOnEveryInstructionSetAndItsFactorIsTheDerivative) {
  const base::Isa before = base::active_isa();
  std::vector<float> weights(9001);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(static_cast<float>(i)) * 0.3f;
  double exact = 0;
  for (const float w : weights) exact += static_cast<double>(w) * static_cast<double>(w);
  std::set<double> sums;
  for (const base::Isa isa : {base::Isa::generic, base::Isa::avx2, base::Isa::avx512}) {
    if (isa > base::best_isa()) continue;
    base::set_active_isa(isa);
    sums.insert(ops::l2_sum(weights.data(), static_cast<std::int64_t>(weights.size())));
  }
  base::set_active_isa(before);
  EXPECT_EQ(sums.size(), 1u);
  EXPECT_NEAR(*sums.begin(), exact, 1e-12 * exact);
  EXPECT_EQ(ops::l2_gradient_factor(0.25), 0.5f);
  EXPECT_EQ(ops::l2_gradient_factor(0), 0.0f);
}

}  // namespace
}  // namespace trireme::optest
