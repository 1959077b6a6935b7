#include "ops/activation/activation.h"

#include "base/cpu/math.h"
#include "base/error.h"
#include "ops/activation/activation_reference.h"
#include "ops/core/elementwise.h"
#include "ops/core/op_registry.h"
#include "ops/vector/wide.h"

namespace trireme::ops {
namespace {

// Every element is computed alone, so dst may be src and the compiler may use any vector width.
struct ReluForward {
  TRIREME_INLINE static void run(const float* src, float* dst, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) dst[i] = positive_part(src[i]);
  }
};
struct ReluBackward {
  TRIREME_INLINE static void run(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) diff_src[i] = where_positive(dst[i], diff_dst[i]);
  }
};
struct TanhForward {
  TRIREME_INLINE static void run(const float* src, float* dst, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) dst[i] = base::tanh(src[i]);
  }
};
struct TanhBackward {
  TRIREME_INLINE static void run(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) diff_src[i] = diff_dst[i] * (1.0f - dst[i] * dst[i]);
  }
};
struct SigmoidForward {
  TRIREME_INLINE static void run(const float* src, float* dst, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) dst[i] = base::sigmoid(src[i]);
  }
};
struct SigmoidBackward {
  TRIREME_INLINE static void run(const float* dst, const float* diff_dst, float* diff_src, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) diff_src[i] = diff_dst[i] * (dst[i] * (1.0f - dst[i]));
  }
};

// The properties of an activation: its name, its loops, and whether it keeps zero padding zero.
struct Relu {
  static constexpr Activation kActivation = Activation::relu;
  static constexpr const char* kName = "relu";
  static constexpr bool kKeepsZero = true;
  using Forward = ReluForward;
  using Backward = ReluBackward;
};
struct Tanh {
  static constexpr Activation kActivation = Activation::tanh;
  static constexpr const char* kName = "tanh";
  static constexpr bool kKeepsZero = true;
  using Forward = TanhForward;
  using Backward = TanhBackward;
};
struct Sigmoid {
  static constexpr Activation kActivation = Activation::sigmoid;
  static constexpr const char* kName = "sigmoid";
  static constexpr bool kKeepsZero = false;
  using Forward = SigmoidForward;
  using Backward = SigmoidBackward;
};

template <class F>
class ActivationKernel : public Kernel {
 public:
  explicit ActivationKernel(const KernelRequest& request) {
    Layout layout = channel_layout(request.src[0]);
    if (!F::kKeepsZero && layout.has_padding()) layout = Layout::plain(layout.shape);
    plan_.src = {layout};
    plan_.dst = layout;
    plan_.backward_needs_src = false;
    plan_.backward_needs_dst = true;
    plan_.forward_in_place = true;
    plan_.backward_in_place = true;
  }
  std::string implementation() const override { return F::kName; }
  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    base::dispatch<typename F::Forward>(args.src[0], args.dst, plan_.dst.elements());
  }
  void backward(const KernelArgs& args, KernelState*, OarRun&) const override {
    if (args.diff_src[0] == nullptr) return;
    base::dispatch<typename F::Backward>(static_cast<const float*>(args.dst), args.diff_dst, args.diff_src[0],
                                         plan_.dst.elements());
  }
};

template <class F>
class ActivationOp : public Op {
 public:
  std::string_view kind() const override { return F::kName; }
  Shape output(std::span<const Shape> src) const override {
    if (src.size() != 1) base::user_error("{} takes one input, not {}", F::kName, src.size());
    return src[0];
  }
  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<ActivationKernel<F>>(request);
  }
  void reference_forward(Reference& r) const override { activation_reference_forward(F::kActivation, r); }
  void reference_backward(Reference& r) const override { activation_reference_backward(F::kActivation, r); }
};

}  // namespace

OpPtr relu() { return std::make_shared<ActivationOp<Relu>>(); }
OpPtr tanh() { return std::make_shared<ActivationOp<Tanh>>(); }
OpPtr sigmoid() { return std::make_shared<ActivationOp<Sigmoid>>(); }

OpRow relu_row() {
  return {.name = "relu", .summary = "max(x, 0), element by element", .make = [](base::Spec&) { return relu(); }};
}
OpRow tanh_row() {
  return {
      .name = "tanh", .summary = "hyperbolic tangent, element by element", .make = [](base::Spec&) { return tanh(); }};
}
OpRow sigmoid_row() {
  return {.name = "sigmoid", .summary = "1 / (1 + exp(-x)), element by element", .make = [](base::Spec&) {
            return sigmoid();
          }};
}

}  // namespace trireme::ops
