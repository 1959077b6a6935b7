// Swish, x * sigmoid(x), written as a user writes an op of his own: one class that says what it is, one that runs it.
// Nothing in src/ knows of it.
#pragma once

#include <cmath>
#include <memory>

#include "base/error.h"
#include "ops/core/op.h"

namespace trireme::own_op {

class SwishKernel : public ops::Kernel {
 public:
  explicit SwishKernel(const ops::KernelRequest& request) {
    // Swish of 0 is 0, so any layout's padding stays zero.
    plan_.src = {request.src[0]};
    plan_.dst = request.src[0];
    plan_.backward_in_place = true;
  }
  std::string implementation() const override { return "swish"; }
  void forward(const ops::KernelArgs& args, ops::KernelState*, ops::OarRun&) const override {
    const float* src = args.src[0];
    float* dst = args.dst;
    for (std::int64_t i = 0; i < plan_.dst.elements(); ++i) dst[i] = src[i] * sigmoid(src[i]);
  }
  void backward(const ops::KernelArgs& args, ops::KernelState*, ops::OarRun&) const override {
    if (args.diff_src[0] == nullptr) return;
    const float *src = args.src[0], *diff_dst = args.diff_dst;
    float* diff_src = args.diff_src[0];
    for (std::int64_t i = 0; i < plan_.dst.elements(); ++i) {
      const float x = src[i], s = sigmoid(x);
      diff_src[i] = diff_dst[i] * (s + x * s * (1 - s));
    }
  }

 private:
  static float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
};

class Swish : public ops::Op {
 public:
  std::string_view kind() const override { return "swish"; }
  ops::Shape output(std::span<const ops::Shape> src) const override {
    base::check(src.size() == 1, "swish takes one input, not {}", src.size());
    return src[0];
  }
  std::unique_ptr<ops::Kernel> compile(const ops::KernelRequest& request) const override {
    return std::make_unique<SwishKernel>(request);
  }
  void reference_forward(ops::Reference& r) const override {
    for (std::size_t i = 0; i < r.dst.size(); ++i) r.dst[i] = r.src[0][i] * sigmoid(r.src[0][i]);
  }
  void reference_backward(ops::Reference& r) const override {
    for (std::size_t i = 0; i < r.dst.size(); ++i) {
      const double x = r.src[0][i], s = sigmoid(x);
      r.diff_src[0][i] = r.diff_dst[i] * (s + x * s * (1 - s));
    }
  }

 private:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
};

inline ops::OpPtr swish() { return std::make_shared<Swish>(); }

}  // namespace trireme::own_op
