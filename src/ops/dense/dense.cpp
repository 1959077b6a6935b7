#include "ops/dense/dense.h"

#include <algorithm>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "ops/core/op_options.h"
#include "ops/core/op_registry.h"
#include "ops/dense/dense_passes.h"
#include "ops/dense/dense_reference.h"
#include "ops/vector/relu_mask.h"

namespace trireme::ops {
namespace {

using namespace dense_passes;

// The smallest weight matrix, in floats, for which a late gradient pays off (Kernel::late_gradient()).
constexpr std::int64_t kLateFrom = 256 * 1024;

struct SumOfRows {
  TRIREME_INLINE static void run(const float* rows, std::int64_t count, std::int64_t width, float* sums) {
    std::copy_n(rows, width, sums);
    for (std::int64_t r = 1; r < count; ++r)
      for (std::int64_t i = 0; i < width; ++i) sums[i] += rows[r * width + i];
  }
};

class DenseKernel : public Kernel {
 public:
  DenseKernel(const KernelRequest& request, const DenseOptions& options)
      : o_(options),
        isa_(base::active_isa()),
        m_(request.src[0].shape[0]),
        k_(request.src[0].shape[1]),
        training_(request.training) {
    plan_.src = {Layout::plain({m_, k_})};
    plan_.dst = Layout::plain({m_, o_.outputs});
    plan_.weights = {Layout::plain({o_.outputs, k_})};
    if (o_.bias) plan_.weights.push_back(Layout::plain({o_.outputs}));
    base::check(request.weights.empty() || request.weights == plan_.weights, "the weights of dense layers are plain");
    plan_.backward_needs_dst = o_.relu;
    plan_.late_weights = training_ && o_.outputs * k_ >= kLateFrom;
    std::int64_t floats = dots_panel_floats(m_, k_);
    if (training_) floats = std::max(floats, sums_panel_floats(m_, k_));
    if (training_ && request.diff_src[0]) floats = std::max(floats, sums_panel_floats(o_.outputs, k_));
    plan_.scratch_bytes = static_cast<std::size_t>(floats) * sizeof(float);
  }

  std::string implementation() const override {
    return std::string("dense") + (o_.relu ? " + relu" : "") + " own:" + std::string(base::isa_name(isa_));
  }

  void forward(const KernelArgs& args, KernelState*, OarRun&) const override {
    passes(isa_).dots({.src = args.src[0],
                       .weights = args.weights[0],
                       .bias = o_.bias ? args.weights[1] : nullptr,
                       .dst = args.dst,
                       .m = m_,
                       .n = o_.outputs,
                       .k = k_,
                       .relu = o_.relu,
                       .panel = reinterpret_cast<float*>(args.scratch)});
  }

  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    if (o_.relu) relu_mask(args.diff_dst, args.dst, m_ * o_.outputs);
    const auto& slot = args.diff_weights[static_cast<std::size_t>(run.slot)];
    if (o_.bias) base::dispatch<SumOfRows>(args.diff_dst, m_, o_.outputs, slot[1]);
    if (slot[0] != nullptr) late_gradient(args, {0, o_.outputs}, args.scratch, slot[0]);
    if (args.diff_src[0] == nullptr) return;
    passes(isa_).sums({.factors = args.diff_dst,
                       .factor_of_result = o_.outputs,
                       .factor_of_term = 1,
                       .terms = args.weights[0],
                       .results = args.diff_src[0],
                       .result_count = m_,
                       .term_count = o_.outputs,
                       .k = k_,
                       .panel = reinterpret_cast<float*>(args.scratch)});
  }

  void late_gradient(const KernelArgs& args, base::Range rows, std::byte* scratch, float* to) const override {
    passes(isa_).sums({.factors = args.diff_dst + rows.begin,
                       .factor_of_result = 1,
                       .factor_of_term = o_.outputs,
                       .terms = args.src[0],
                       .results = to,
                       .result_count = rows.size(),
                       .term_count = m_,
                       .k = k_,
                       .panel = reinterpret_cast<float*>(scratch)});
  }

 private:
  DenseOptions o_;
  base::Isa isa_;
  std::int64_t m_, k_;
  bool training_;
};

class DenseOp : public Op {
 public:
  explicit DenseOp(DenseOptions options) : o_(options) {}

  std::string_view kind() const override { return "dense"; }

  std::string options_text() const override {
    OptionsText text;
    text.integer("outputs", o_.outputs, 0);
    text.flag("bias", o_.bias, true);
    text.flag("relu", o_.relu, false);
    return text.text();
  }

  Shape output(std::span<const Shape> src) const override {
    if (src.size() != 1) base::user_error("dense takes one input, not {}", src.size());
    if (src[0].rank() != 2)
      base::user_error("a dense layer needs flat samples, got {}; put a flatten before it",
                       src[0].without_batch().text());
    return {src[0][0], o_.outputs};
  }

  std::vector<ParameterSpec> parameters(std::span<const Shape> src) const override {
    const std::int64_t inputs = src[0][1];
    std::vector<ParameterSpec> all{{"weight", {o_.outputs, inputs}, Role::weights, inputs, o_.outputs}};
    if (o_.bias) all.push_back({"bias", {o_.outputs}, Role::bias, inputs, o_.outputs});
    return all;
  }

  Cost cost(std::span<const Shape> src) const override {
    const auto n = static_cast<double>(src[0][0]), in = static_cast<double>(src[0][1]);
    const auto out = static_cast<double>(o_.outputs);
    return {2 * n * in * out, sizeof(float) * (n * (in + out) + in * out)};
  }

  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    return std::make_unique<DenseKernel>(request, o_);
  }

  OpPtr with_relu() const override {
    if (o_.relu) return nullptr;
    DenseOptions options = o_;
    options.relu = true;
    return std::make_shared<DenseOp>(options);
  }

  void reference_forward(Reference& r) const override { dense_reference_forward(o_, r); }
  void reference_backward(Reference& r) const override { dense_reference_backward(o_, r); }

 private:
  DenseOptions o_;
};

}  // namespace

OpPtr dense(DenseOptions options) {
  if (options.outputs < 1) base::user_error("a dense layer needs at least one output, got {}", options.outputs);
  return std::make_shared<DenseOp>(options);
}

OpRow dense_row() {
  return {.name = "dense",
          .summary = "fully connected layer over flat samples",
          .options = {{"outputs", "N", "values per sample"},
                      {"bias", "yes|no", "add a trained bias"},
                      {"relu", "no|yes", "apply a ReLU to the result"}},
          .make = [](base::Spec& spec) {
            return dense({.outputs = required_integer(spec, "outputs"),
                          .bias = spec.flag("bias", true),
                          .relu = spec.flag("relu", false)});
          }};
}

}  // namespace trireme::ops
