// Kernels read float32, and say so when they are given something else.
#include <gtest/gtest.h>

#include "ops/activation/activation.h"
#include "ops/conv/conv.h"
#include "ops/core/reorder.h"
#include "ops/dense/dense.h"
#include "support/core_errors.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

constexpr auto kNoType = static_cast<tensor::ElementType>(200);

// A kernel with its memory, all of it zero.
struct Bench {
  Bench(const OpPtr& op, const Shape& shape) {
    KernelRequest request;
    request.src = {Layout::plain(shape)};
    request.diff_src = {false};
    request.training = false;
    kernel = op->compile(request);
    const KernelPlan& plan = kernel->plan();
    args.src = {make(plan.src[0])};
    args.dst = make(plan.dst);
    for (const Layout& weights : plan.weights) args.weights.push_back(make(weights));
    for (const auto& derived : plan.derived) args.derived.push_back(make(derived.layout));
    args.diff_src = {View()};
    args.workspace = memory.emplace_back(plan.workspace_bytes + tensor::kAlignment).data();
    args.scratch = memory.emplace_back(plan.scratch_bytes + tensor::kAlignment).data();
  }
  View make(const Layout& layout) { return {memory.emplace_back(layout.bytes()).data(), layout.type}; }
  void run() const {
    OarRun oar;
    const auto state = kernel->bind(args);
    kernel->forward(args, state.get(), oar);
  }

  std::vector<tensor::Buffer> memory;
  std::unique_ptr<Kernel> kernel;
  KernelArgs args;
};

void expect_refusals(const OpPtr& op, const Shape& shape) {
  Bench(op, shape).run();
  const auto expect_refusal = [&](const char* what, const auto& spoil) {
    Bench bench(op, shape);
    spoil(bench.args);
    const std::string sentence = support::sentence(base::ErrorKind::internal, [&] { bench.run(); });
    EXPECT_TRUE(support::contains(
        sentence, "a kernel wants elements of type float32, its argument holds an unknown element type (number 200)"))
        << op->kind() << ", " << what << ": " << sentence;
  };
  expect_refusal("src", [](KernelArgs& args) { args.src[0].type = kNoType; });
  expect_refusal("dst", [](KernelArgs& args) { args.dst.type = kNoType; });
  if (!Bench(op, shape).args.weights.empty())
    expect_refusal("bias", [](KernelArgs& args) { args.weights[1].type = kNoType; });
}

TEST(ElementType, OwnKernelsRefuseAnother) {
  expect_refusals(relu(), {2, 5});
  expect_refusals(dense({.outputs = 3}), {2, 5});
}

TEST(ElementType, KernelsOfOneDnnRefuseAnother) {
  expect_refusals(conv({.channels = 3, .kernel = {3, 3}, .stride = {2, 2}, .bias = true}), {2, 5, 9, 9});
}

TEST(ElementType, ReordersNameTheTypesOfBothSides) {
  const Layout from = Layout::plain({2, 16, 3, 3}), to = Layout::channels_blocked({2, 16, 3, 3}, 8);
  const tensor::Buffer src(from.bytes()), dst(to.bytes());
  LayoutCopy(from, src.floats(), to, dst.floats(), 1).run();
  const std::string sentence = support::sentence(base::ErrorKind::internal, [&] {
    LayoutCopy(from, {src.data(), kNoType}, to, dst.floats(), 1).run();
  });
  EXPECT_TRUE(
      support::contains(sentence, "a reorder from float32 to float32 is given an unknown element type and float32"))
      << sentence;
}

}  // namespace
}  // namespace trireme::ops
