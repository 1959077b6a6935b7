// An op of your own: swish(x) = x * sigmoid(x), with its gradient. The gradient is checked against differences, then
// the op is trained in a small network. Exit code 0: the gradient is right and the network has learnt.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/cpu/math.h"
#include "crew/crew.h"
#include "data/loading/loader.h"
#include "data/open_data.h"
#include "models/init.h"
#include "ops/conv/conv.h"
#include "ops/core/elementwise.h"
#include "ops/core/op_registry.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/merge/flatten.h"
#include "strategy/single/single.h"
#include "train/evaluation/evaluate.h"

using namespace trireme;

// The loops, over sixteen lanes at a time: base::dispatch compiles them for every instruction set, and base::sigmoid
// has the same bits on all of them (std::exp does not).
struct SwishForward {
  TRIREME_INLINE static void run(const float* src, float* dst, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += base::kLanes) {
      const int part = static_cast<int>(std::min<std::int64_t>(base::kLanes, count - i));
      const base::Lanes x = base::load_part(src + i, part);
      base::store_part(dst + i, x * base::sigmoid(x), part);
    }
  }
};
// swish' = s + x s (1 - s), with s = sigmoid(x).
struct SwishBackward {
  TRIREME_INLINE static void run(const float* src, const float* diff_dst, float* diff_src, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += base::kLanes) {
      const int part = static_cast<int>(std::min<std::int64_t>(base::kLanes, count - i));
      const base::Lanes x = base::load_part(src + i, part), s = base::sigmoid(x);
      const base::Lanes slope = s + x * s * (base::splat(1.0f) - s);
      base::store_part(diff_src + i, base::load_part(diff_dst + i, part) * slope, part);
    }
  }
};

class SwishKernel : public ops::Kernel {
 public:
  explicit SwishKernel(const ops::KernelRequest& request) {
    plan_.dst = ops::channel_layout(request.src[0]);  // whatever layout the op before left; swish(0) = 0 keeps padding
    plan_.src = {plan_.dst};
    plan_.backward_needs_src = true;
    plan_.backward_in_place = true;  // element by element, so the gradient may overwrite the one that came in
  }
  std::string implementation() const override { return "swish"; }
  void forward(const ops::KernelArgs& args, ops::KernelState*, ops::OarRun&) const override {
    base::dispatch<SwishForward>(args.src[0], args.dst, plan_.dst.elements());
  }
  void backward(const ops::KernelArgs& args, ops::KernelState*, ops::OarRun&) const override {
    if (args.diff_src[0] == nullptr) return;  // nothing behind this op learns
    base::dispatch<SwishBackward>(args.src[0], args.diff_dst, args.diff_src[0], plan_.dst.elements());
  }
};

class Swish : public ops::Op {
 public:
  std::string_view kind() const override { return "swish"; }
  ops::Shape output(std::span<const ops::Shape> src) const override { return src[0]; }
  std::unique_ptr<ops::Kernel> compile(const ops::KernelRequest& request) const override {
    return std::make_unique<SwishKernel>(request);
  }
};

// How the registry knows it: with this row, descriptions of networks can name it like any other op.
ops::OpRow swish_row() {
  return {.name = "swish", .summary = "x * sigmoid(x), element by element", .make = [](base::Spec&) {
            return std::make_shared<Swish>();
          }};
}

// The largest distance between the kernel's gradient and (f(x + h) - f(x - h)) / 2h, for x from -4 to 4.
double gradient_error() {
  constexpr int kCount = 161;
  constexpr float kStep = 0.01f;
  const auto kernel = Swish().compile({.src = {ops::Layout::plain({1, kCount})}, .diff_src = {true}});
  std::vector<float> x(kCount), low(kCount), high(kCount), one(kCount, 1.0f), slope(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = -4 + 0.05f * static_cast<float>(i);
  ops::OarRun run;
  const auto forward = [&](float by, std::vector<float>& to) {
    std::vector<float> moved = x;
    for (float& value : moved) value += by;
    kernel->forward({.src = {moved.data()}, .dst = to.data()}, nullptr, run);
  };
  forward(-kStep, low);
  forward(kStep, high);
  kernel->backward({.src = {x.data()}, .diff_dst = one.data(), .diff_src = {slope.data()}}, nullptr, run);
  double worst = 0;
  for (int i = 0; i < kCount; ++i) worst = std::fmax(worst, std::fabs((high[i] - low[i]) / (2 * kStep) - slope[i]));
  return worst;
}

int main() {
  const double error = gradient_error();
  fmt::print("largest error of the gradient: {:.1e}\n", error);

  ops::OpRegistry registry = ops::builtin_ops();
  registry.add(swish_row());
  graph::Network net("swish-net");
  auto x = net.input("image", {1, 12, 12});
  x = net.add("swish1", ops::make_op(registry, "swish"),
              {net.add("conv", ops::conv({.channels = 6, .kernel = {5, 5}}), {x})});
  x = net.add("fc", ops::dense({.outputs = 10}), {net.add("flatten", ops::flatten(), {x})});
  net.finish(x, ops::softmax_cross_entropy());
  const data::DataPair data = data::open_dataset({.name = "synthetic", .wanted_inputs = {{1, 12, 12}}});
  crew::Crew crew(net, {.batch = 50, .oars = 4, .threads = 2});
  models::initialize(crew.network(), crew.space(), crew.weights(), "pytorch", 1);
  crew.refresh_weight_forms();
  strategy::Updater updater(crew, optim::make_optimizer("sgd:lr=0.05"), 0);
  const auto single = strategy::make_single(crew, updater);
  data::Loader loader(data.train, {.batch = 50, .epochs = 1});
  for (std::int64_t step = 1; const data::Batch* batch = loader.next(); ++step) {
    strategy::Work work;
    work.batch = {batch->samples, {batch->inputs[0].floats()}, batch->target.floats(), batch->indices};
    work.step = step;
    work.lr = updater.optimizer().lr();
    single->step(work);
  }
  const train::Evaluation test = train::evaluate(crew, *data.test);
  fmt::print("test accuracy {:.2f} %\n", 100 * test.accuracy);
  return error < 1e-3 && test.accuracy > 0.9 ? 0 : 1;
}
