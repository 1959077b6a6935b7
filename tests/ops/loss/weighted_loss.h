// The softmax cross-entropy with class weights, run as a Program runs it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "ops/loss/loss.h"

namespace trireme::ops {

struct WeightedLoss {
  static constexpr std::int64_t kSamples = 37, kClasses = 5;

  std::vector<float> prediction, labels, weights{0.25f, 3, 0, 1, 0.75f};
  float scale = 1.0f / kSamples;

  WeightedLoss() {
    const base::CounterRng rng(3, base::Purpose::probe, 0, 0);
    for (std::uint64_t i = 0; i < kSamples * kClasses; ++i) prediction.push_back(6 * rng.uniform(i) - 3);
    for (std::int64_t n = 0; n < kSamples; ++n) labels.push_back(static_cast<float>(n * n % kClasses));
  }

  struct Result {
    std::vector<float> losses, gradient;
    double loss = 0, correct = 0;
  };
  Result run(std::span<const float> class_weights) const {
    const Shape shape{kSamples, kClasses}, target{kSamples, 1};
    KernelRequest request;
    request.src = {Layout::plain(shape), Layout::plain(target)};
    request.diff_src = {true, false};
    const auto kernel = softmax_cross_entropy()->compile(request);
    Result result{std::vector<float>(kSamples), std::vector<float>(kSamples * kClasses), 0, 0};
    std::vector<std::byte> workspace(kernel->plan().workspace_bytes);
    KernelArgs args;
    args.src = {prediction.data(), labels.data()};
    args.dst = result.losses.data();
    args.diff_src = {result.gradient.data(), View()};
    args.workspace = workspace.data();
    OarRun run;
    run.loss_scale = scale;
    run.class_weights = class_weights;
    kernel->forward(args, nullptr, run);
    kernel->backward(args, nullptr, run);
    result.loss = run.loss;
    result.correct = run.correct;
    return result;
  }
};

}  // namespace trireme::ops
