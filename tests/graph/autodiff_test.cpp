// Whole networks, compiled: loss, predictions and every gradient against the reference in double, and the reference
// itself against finite differences.
#include <gtest/gtest.h>

#include <cmath>

#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::graph {
namespace {

using support::ReferenceBatch;
using support::ReferenceResult;
using support::SingleRun;

void expect_near_reference(const Network& net, std::int64_t samples, double tolerance) {
  SCOPED_TRACE(net.name() + ", " + std::to_string(samples) + " samples");
  const auto parameters = support::widen(support::parameter_values(net));
  const ReferenceResult expected = run_reference(net, parameters, support::reference_batch(net, samples));
  SingleRun single(net, samples);
  // Whatever lay in the gradient slot before must not show.
  std::fill_n(single.gradient().floats(), single.space().floats(), std::nanf(""));
  single.fill();
  const ops::OarRun got = single.run();
  EXPECT_NEAR(got.loss, expected.loss, 1e-5 * std::abs(expected.loss) + 1e-6);
  EXPECT_NEAR(got.correct, expected.correct, 1e-9);
  const support::Plain gradients = single.gradients();
  for (std::size_t p = 0; p < gradients.size(); ++p) {
    const std::vector<std::vector<double>> truth{expected.gradients[p]};
    if (net.parameters()[p].name.starts_with("lost")) continue;
    EXPECT_LT(support::largest_distance(support::Plain{gradients[p]}, truth), tolerance) << net.parameters()[p].name;
  }
}

TEST(Autodiff, GradientsOfTheReferenceAreFiniteDifferences) {
  for (const Network& net : {support::tangle(), support::small_residual(), support::two_inputs(), support::series(),
                             support::dropout_cnn(), support::mlp()}) {
    SCOPED_TRACE(net.name());
    auto parameters = support::widen(support::parameter_values(net));
    const ReferenceBatch batch = support::reference_batch(net, 3);
    const ReferenceResult at = run_reference(net, parameters, batch);
    const double step = 1e-5;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (net.parameters()[p].spec.is_statistic()) continue;
      for (const std::size_t i : {std::size_t{0}, parameters[p].size() / 2, parameters[p].size() - 1}) {
        const double before = parameters[p][i];
        parameters[p][i] = before + step;
        const double above = run_reference(net, parameters, batch).loss;
        parameters[p][i] = before - step;
        const double below = run_reference(net, parameters, batch).loss;
        parameters[p][i] = before;
        const double slope = (above - below) / (2 * step) * batch.loss_scale;
        EXPECT_NEAR(at.gradients[p][i], slope, 1e-5 * std::abs(slope) + 1e-7) << net.parameters()[p].name << " " << i;
      }
    }
  }
}

TEST(Autodiff, SmallNetworksMatchTheReference) {
  for (const Network& net : support::small_networks())
    for (const std::int64_t samples : {1, 2, 5}) expect_near_reference(net, samples, 2e-4);
}

TEST(Autodiff, FusedNetworksMatchTheReference) {
  for (const Network& net : support::small_networks()) expect_near_reference(fuse(net), 4, 2e-4);
}

TEST(Autodiff, InferenceUsesRunningStatisticsAndNoDropout) {
  for (const Network& unfused : support::small_networks())
    for (const Network& net : {unfused, fuse(unfused)}) {
      SCOPED_TRACE(net.name());
      ReferenceBatch batch = support::reference_batch(net, 3);
      batch.training = false;
      const ReferenceResult expected = run_reference(net, support::widen(support::parameter_values(net)), batch);
      SingleRun single(net, 3, false);
      single.fill();
      const ops::OarRun got = single.run();
      EXPECT_NEAR(got.loss, expected.loss, 1e-5 * std::abs(expected.loss) + 1e-6);
      const tensor::Layout& layout = single.instance().prediction_layout();
      std::vector<float> prediction(static_cast<std::size_t>(layout.shape.count()));
      tensor::to_plain(layout, single.instance().prediction(), prediction.data());
      const std::vector<std::vector<double>> truth{expected.prediction};
      EXPECT_LT(support::largest_distance(support::Plain{prediction}, truth), 1e-4);
    }
}

// loss = mean((w x)^2) over one weight: the gradient by hand.
TEST(Autodiff, OneWeightByHand) {
  Network net("one");
  Value x = net.input("x", {1});
  x = net.add("w", ops::dense({.outputs = 1, .bias = false}), {x});
  x = net.add("twice", ops::add(), {x, x});
  net.finish(x, ops::squared_error());
  SingleRun single(net, 2);
  single.set_parameters({{3.0f}});
  single.fill();
  single.instance().input(0)[0] = 1;
  single.instance().input(0)[1] = -2;
  single.instance().target()[0] = 0;
  single.instance().target()[1] = 4;
  // y = 2 w x: 6, -12; loss (6 - 0)^2 + (-12 - 4)^2 = 292; d/dw = mean of 2 (y - t) 2 x = (24 + 128) / 2.
  EXPECT_DOUBLE_EQ(single.run().loss, 292);
  EXPECT_FLOAT_EQ(single.gradients()[0][0], 76);
}

// A value that reaches the loss along 2^k paths has 2^k times the gradient.
TEST(Autodiff, ManyPaths) {
  Network net("paths");
  Value x = net.input("x", {4});
  x = net.add("w", ops::dense({.outputs = 3, .bias = false}), {x});
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    x = net.add("sum" + n, ops::add(), {x, x});
  }
  net.finish(x, ops::squared_error());
  expect_near_reference(net, 3, 1e-5);
}

TEST(Autodiff, ConcatOfOneValueManyTimes) {
  Network net("concat");
  Value x = net.input("x", {4});
  x = net.add("w", ops::dense({.outputs = 3}), {x});
  const Value y = net.add("tanh", ops::tanh(), {x});
  const Value z = net.add("concat", ops::concat(), {y, x, y, y});
  const Value again = net.add("concat2", ops::concat(), {z, z});
  net.finish(again, ops::squared_error());
  expect_near_reference(net, 3, 1e-5);
}

// Norms folded into convolutions read a growing concat in any order, also the widest first; what one has found out
// about the channels serves the next, whichever reads more.
TEST(Autodiff, GrowingRowsAreReadInAnyOrder) {
  for (const std::vector<int>& order : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 2, 0, 1}, {2, 0, 1, 2}}) {
    Network net("rows");
    const Value x = net.input("x", {3, 5, 4});
    std::vector<Value> grown{net.add("stem", support::conv3(7), {x})};
    for (const std::string n : {"1", "2"}) {
      const Value more = net.add("more" + n, support::conv3(5), {x});
      grown.push_back(net.add("concat" + n, ops::concat(), {grown.back(), more}));
    }
    std::vector<Value> heads;
    for (const int i : order) {
      const std::string n = std::to_string(heads.size());
      Value head = net.add("norm" + n, ops::batch_norm({.epsilon = 1e-3}), {grown[static_cast<std::size_t>(i)]});
      head = net.add("relu" + n, ops::relu(), {head});
      head = net.add("conv" + n, ops::conv({.channels = 6, .kernel = {1, 1}, .bias = false}), {head});
      heads.push_back(head);
    }
    support::classify(net, net.add("flat", ops::flatten(), {net.add("heads", ops::concat(), heads)}));
    for (const std::int64_t samples : {1, 3}) expect_near_reference(fuse(net), samples, 2e-4);
  }
}

// Readers of different layouts: a flatten (plain), a convolution (blocked) and an add share one value.
TEST(Autodiff, ReadersThatWantDifferentLayouts) {
  Network net("layouts");
  Value x = net.add("stem", support::conv3(16), {net.input("x", {3, 6, 6})});
  const Value conv = net.add("conv", support::conv3(16), {x});
  const Value sum = net.add("add", ops::add(), {conv, x});
  const Value flat = net.add("flat", ops::flatten(), {x});
  const Value flat_sum = net.add("flat_sum", ops::flatten(), {sum});
  x = net.add("join", ops::concat(), {flat, flat_sum, flat});
  support::classify(net, x);
  for (const std::int64_t samples : {1, 3}) expect_near_reference(net, samples, 2e-4);
}

TEST(Autodiff, TheGradientOfAnInputIsNotAskedFor) {
  const SingleRun single(support::small_cnn(), 2);
  for (const PlanTask& task : single.program().plan().tasks)
    if (task.name == "conv1") {
      EXPECT_EQ(task.diff_src[0], -1);
    }
}

TEST(Autodiff, EveryParameterIsReportedOnce) {
  for (const Network& net : support::small_networks()) {
    SingleRun single(net, 2);
    single.fill();
    ops::OarRun oar;
    std::vector<std::int64_t> indices{0, 1};
    oar.sample_indices = indices;
    single.instance().forward(oar);
    std::vector<int> reported(net.parameters().size(), 0);
    for (const Segment& segment : single.program().backward_segments()) {
      single.instance().backward(segment, oar);
      for (const int p : segment.parameters) ++reported[static_cast<std::size_t>(p)];
    }
    for (std::size_t p = 0; p < reported.size(); ++p)
      EXPECT_EQ(reported[p], net.parameters()[p].name.starts_with("lost") ? 0 : 1) << net.parameters()[p].name;
  }
}

}  // namespace
}  // namespace trireme::graph
