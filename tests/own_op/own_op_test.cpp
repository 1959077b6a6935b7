// A user's own op (support/op_swish.h) in a network, compiled, differentiated and trained by the engine as any other;
// its gradients against finite differences of the whole network's loss. And flatten, which is a view that only a
// Program can make.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/index.h"
#include "base/rng.h"
#include "crew/crew.h"
#include "ops/activation/activation.h"
#include "ops/conv/conv.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/merge/flatten.h"
#include "ops/merge/merge.h"
#include "support/op_swish.h"

namespace trireme::own_op {
namespace {

constexpr std::int64_t kSamples = 12;

using base::at;

crew::CrewOptions crew_options(std::int64_t batch, int oars, int threads) {
  crew::CrewOptions options;
  options.batch = batch;
  options.oars = oars;
  options.threads = threads;
  return options;
}

// conv -> swish -> (itself added) -> swish -> flatten -> dense -> swish -> dense -> loss.
graph::Network swish_network() {
  graph::Network net("swish");
  auto x = net.input("image", {2, 6, 5});
  x = net.add("conv", ops::conv({.channels = 5, .kernel = {3, 3}, .padding = {1, 1}}), {x});
  x = net.add("swish1", swish(), {x});
  x = net.add("twice", ops::add(), {x, net.add("swish2", swish(), {x})});
  x = net.add("flatten", ops::flatten(), {x});
  x = net.add("hidden", ops::dense({.outputs = 7}), {x});
  x = net.add("swish3", swish(), {x});
  x = net.add("out", ops::dense({.outputs = 3}), {x});
  net.finish(x, ops::softmax_cross_entropy());
  return net;
}

// A crew with random weights and one batch whose classes can be learnt: class c makes the image brighter by c.
class Bench {
 public:
  Bench(const graph::Network& net, int oars, int threads)
      : crew_(net, crew_options(kSamples, oars, threads)), indices_(kSamples) {
    std::iota(indices_.begin(), indices_.end(), 0);
    const base::CounterRng rng(1, base::Purpose::probe);
    std::uint64_t place = 0;
    for (int p = 0; p < crew_.space().size(); ++p) {
      const auto& range = crew_.space().range(p);
      std::vector<float> plain(at(range.count()));
      for (float& w : plain) w = 0.6f * (rng.uniform(place++) - 0.5f);
      tensor::from_plain(range.layout, plain.data(), crew_.weights() + range.offset);
    }
    crew_.refresh_weight_forms();
    const std::int64_t own = net.nodes()[at(net.inputs()[0])].shape.count();
    for (std::int64_t i = 0; i < kSamples * own; ++i)
      image_.push_back(rng.uniform(place++) - 0.5f + static_cast<float>(i / own % 3));
    for (std::int64_t n = 0; n < kSamples; ++n) target_.push_back(static_cast<float>(n % 3));
  }

  crew::Crew& crew() { return crew_; }
  // The mean loss; the summed gradient is then crew().gradient().
  double compute() {
    const auto report = crew_.compute({kSamples, {image_.data()}, target_.data(), indices_}, {});
    return report.loss / static_cast<double>(kSamples);
  }
  double evaluate() {
    const auto fill = [&](std::int64_t first, std::int64_t samples, std::span<float* const> inputs, float* target) {
      const auto own = static_cast<std::int64_t>(image_.size()) / kSamples;
      std::copy_n(image_.data() + first * own, samples * own, inputs[0]);
      std::copy_n(target_.data() + first, samples, target);
    };
    return crew_.evaluate(kSamples, fill).loss / static_cast<double>(kSamples);
  }
  void step(float rate) {
    crew_.for_each_chunk([&](const crew::Chunk& chunk, const float* gradient) {
      for (std::int64_t i = 0; i < chunk.count; ++i) crew_.weights()[chunk.offset + i] -= rate * gradient[i];
    });
    crew_.finish_step();
  }

 private:
  crew::Crew crew_;
  std::vector<std::int64_t> indices_;
  std::vector<float> image_, target_;
};

// For each parameter: along its own gradient the loss must rise by the gradient's norm.
TEST(OwnOp, GradientEqualsFiniteDifferencesOfTheLoss) {
  for (const int oars : {1, 3}) {
    Bench bench(swish_network(), oars, 2);
    bench.compute();
    bench.crew().for_each_chunk([](const crew::Chunk&, const float*) {});
    const auto& space = bench.crew().space();
    const std::vector<float> gradient(bench.crew().gradient(), bench.crew().gradient() + space.floats());
    const std::vector<float> weights(bench.crew().weights(), bench.crew().weights() + space.floats());
    bench.crew().finish_step();
    for (int p = 0; p < space.size(); ++p) {
      const auto& range = space.range(p);
      double norm = 0;
      for (std::int64_t i = 0; i < range.floats(); ++i) {
        const auto g = static_cast<double>(gradient[at(range.offset + i)]);
        norm += g * g;
      }
      norm = std::sqrt(norm);
      ASSERT_GT(norm, 1e-4) << range.name;
      // Rounding of the loss, about 1e-7, divided by the step stays below 1e-4; the step's square below 1e-4.
      constexpr double kStep = 5e-3;
      const auto loss_at = [&](double step) {
        for (std::int64_t i = 0; i < range.floats(); ++i) {
          const std::size_t k = at(range.offset + i);
          bench.crew().weights()[k] = weights[k] + static_cast<float>(step * static_cast<double>(gradient[k]) / norm);
        }
        bench.crew().refresh_weight_forms();
        return bench.evaluate();
      };
      const double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      loss_at(0);
      EXPECT_NEAR(slope, norm, 2e-3 * norm + 2e-4) << range.name << ", " << oars << " oars";
    }
  }
}

TEST(OwnOp, TrainsAndGivesTheSameBitsOnAnyNumberOfThreads) {
  std::string hash;
  for (const int threads : {1, 2, 3}) {
    Bench bench(swish_network(), 4, threads);
    const double before = bench.compute();
    bench.step(0.1f);
    double loss = before;
    for (int step = 0; step < 40; ++step) {
      loss = bench.compute();
      bench.step(0.1f);
    }
    EXPECT_LT(loss, 0.5 * before);
    EXPECT_LT(bench.evaluate(), 0.5 * before);
    const std::string own = bench.crew().space().sha256(bench.crew().weights());
    if (hash.empty()) hash = own;
    EXPECT_EQ(own, hash) << threads << " threads";
  }
}

// Channels of a convolution lie in blocks or last; flatten must put them back in plain order, there and back: a dense
// layer that picks one element of the flattened map sees exactly that element, and its gradient returns there.
TEST(Flatten, KeepsPlainOrderInAProgram) {
  graph::Network net("pick");
  auto x = net.input("image", {3, 4, 5});
  x = net.add("conv", ops::conv({.channels = 17, .kernel = {1, 1}, .bias = false}), {x});
  x = net.add("flatten", ops::flatten(), {x});
  x = net.add("pick", ops::dense({.outputs = 2, .bias = false}), {x});
  net.finish(x, ops::squared_error());
  crew::Crew crew(net, crew_options(2, 1, 1));
  const auto& space = crew.space();
  const auto set = [&](const std::string& name, const std::vector<float>& plain) {
    const auto& range = space.range(space.find(name));
    ASSERT_EQ(static_cast<std::int64_t>(plain.size()), range.count());
    tensor::from_plain(range.layout, plain.data(), crew.weights() + range.offset);
  };
  constexpr std::size_t kMap = 20, kPicked[] = {16 * kMap + 7, 3 * kMap + 19};  // channel 16 at 7, channel 3 at 19
  std::vector<float> kernel(17 * 3), pick(2 * 17 * kMap);
  for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] = static_cast<float>(i);
  for (std::size_t o = 0; o < 2; ++o) pick[o * 17 * kMap + kPicked[o]] = 1;
  set("conv.weight", kernel);
  set("pick.weight", pick);
  crew.refresh_weight_forms();
  std::vector<float> image(2 * 3 * kMap), target(4, 0);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 11);
  const std::vector<std::int64_t> indices{0, 1};
  const auto report = crew.compute({2, {image.data()}, target.data(), indices}, {});
  crew.for_each_chunk([](const crew::Chunk&, const float*) {});

  double loss = 0;
  std::vector<double> gradient(kernel.size());
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t o = 0; o < 2; ++o) {
      const std::size_t channel = kPicked[o] / kMap, place = kPicked[o] % kMap;
      double y = 0;
      const auto pixel = [&](std::size_t c) { return static_cast<double>(image[(n * 3 + c) * kMap + place]); };
      for (std::size_t c = 0; c < 3; ++c) y += static_cast<double>(kernel[channel * 3 + c]) * pixel(c);
      loss += y * y / 2;
      for (std::size_t c = 0; c < 3; ++c) gradient[channel * 3 + c] += 0.5 * y * pixel(c);  // d(y^2 / 2) / 2 samples
    }
  EXPECT_DOUBLE_EQ(report.loss, loss);  // integers and halves: exact
  const auto& range = space.range(space.find("conv.weight"));
  std::vector<float> got(kernel.size());
  tensor::to_plain(range.layout, crew.gradient() + range.offset, got.data());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(static_cast<double>(got[i]), gradient[i]) << i;
}

}  // namespace
}  // namespace trireme::own_op
