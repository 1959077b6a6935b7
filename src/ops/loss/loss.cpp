#include "ops/loss/loss.h"

#include "base/error.h"
#include "ops/core/op_registry.h"
#include "ops/loss/loss_reference.h"
#include "ops/loss/loss_rows.h"

namespace trireme::ops {
namespace {

// The base of the losses: plain rows, one loss value per sample, summed in sample order.
class LossKernel : public Kernel {
 public:
  LossKernel(const KernelRequest& request, const Shape& out) : classes_(request.src[0].shape[1]) {
    for (const Layout& offered : request.src) plan_.src.push_back(Layout::plain(offered.shape));
    plan_.dst = Layout::plain(out);
  }

  void forward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    for (std::int64_t n = 0; n < samples(); ++n) {
      args.dst[n] = forward_sample(args, n, run);
      run.loss += static_cast<double>(args.dst[n]);
    }
  }
  void backward(const KernelArgs& args, KernelState*, OarRun& run) const override {
    if (args.diff_src[0] == nullptr) return;
    for (std::int64_t n = 0; n < samples(); ++n) backward_sample(args, n, run.loss_scale * weight(args, n, run));
  }

 protected:
  // The sample's loss; adds to run.correct.
  virtual float forward_sample(const KernelArgs& args, std::int64_t n, OarRun& run) const = 0;
  virtual void backward_sample(const KernelArgs& args, std::int64_t n, float scale) const = 0;

  // The factor of a sample's loss: that of its class.
  virtual float weight(const KernelArgs&, std::int64_t, const OarRun&) const { return 1; }

  std::int64_t samples() const { return plan_.dst.shape[0]; }
  const float* prediction(const KernelArgs& args, std::int64_t n) const { return args.src[0] + n * classes_; }
  float* diff(const KernelArgs& args, std::int64_t n) const { return args.diff_src[0] + n * classes_; }

  std::int64_t classes_;  // K
};

class SoftmaxKernel : public LossKernel {
 public:
  SoftmaxKernel(const KernelRequest& request, const Shape& out)
      : LossKernel(request, out), training_(request.training) {
    if (training_) plan_.workspace_bytes = static_cast<std::size_t>(2 * samples()) * sizeof(float);
  }
  std::string implementation() const override { return "softmax cross-entropy"; }

 protected:
  float forward_sample(const KernelArgs& args, std::int64_t n, OarRun& run) const override {
    const std::int64_t label = checked_label(args, n, run);
    const float* x = prediction(args, n);
    float largest = 0, sum = 0;
    base::dispatch<SoftmaxSum>(x, classes_, &largest, &sum);
    if (training_) {
      saved(args)[2 * n] = largest;
      saved(args)[2 * n + 1] = sum;
    }
    run.correct += is_first_maximum(x, label) ? 1 : 0;
    return ((largest - x[label]) + base::log1(sum)) * weight(args, n, run);
  }

  float weight(const KernelArgs& args, std::int64_t n, const OarRun& run) const override {
    return run.class_weights.empty() ? 1 : run.class_weights[static_cast<std::size_t>(args.src[1][n])];
  }

  void backward_sample(const KernelArgs& args, std::int64_t n, float scale) const override {
    float* to = diff(args, n);
    const float largest = saved(args)[2 * n], sum = saved(args)[2 * n + 1];
    base::dispatch<SoftmaxGradient>(prediction(args, n), classes_, largest, scale / sum, to);
    to[static_cast<std::int64_t>(args.src[1][n])] -= scale;
  }

 private:
  static float* saved(const KernelArgs& args) { return reinterpret_cast<float*>(args.workspace); }

  std::int64_t checked_label(const KernelArgs& args, std::int64_t n, const OarRun& run) const {
    const float label = args.src[1][n];
    const bool inside = label >= 0 && label < static_cast<float>(classes_);
    if (!inside || static_cast<float>(static_cast<std::int64_t>(label)) != label) {
      const auto place = static_cast<std::size_t>(n);
      const std::int64_t sample = place < run.sample_indices.size() ? run.sample_indices[place] : n;
      base::run_error(
          "sample {} has the label {}, but the network predicts classes 0 to {}; check the data's labels and "
          "the number of classes",
          sample, label, classes_ - 1);
    }
    return static_cast<std::int64_t>(label);
  }

  // Whether the predicted class (the first of the largest values) is `label`.
  bool is_first_maximum(const float* x, std::int64_t label) const {
    const float own = x[label];
    bool first = own == own;
    for (std::int64_t i = 0; i < label; ++i) first &= !(x[i] >= own);
    for (std::int64_t i = label + 1; i < classes_; ++i) first &= !(x[i] > own);
    return first;
  }

  bool training_;
};

class SigmoidKernel : public LossKernel {
 public:
  using LossKernel::LossKernel;
  std::string implementation() const override { return "sigmoid cross-entropy"; }

 protected:
  float forward_sample(const KernelArgs& args, std::int64_t n, OarRun& run) const override {
    const float* x = prediction(args, n);
    const float* t = args.src[1] + n * classes_;
    float sum = 0;
    base::dispatch<SigmoidSum>(x, t, classes_, &sum);
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < classes_; ++i) right += (x[i] > 0) == (t[i] > 0.5f) ? 1 : 0;
    run.correct += static_cast<double>(right) / static_cast<double>(classes_);
    return sum / static_cast<float>(classes_);
  }
  void backward_sample(const KernelArgs& args, std::int64_t n, float scale) const override {
    base::dispatch<SigmoidGradient>(prediction(args, n), args.src[1] + n * classes_, classes_,
                                    scale / static_cast<float>(classes_), diff(args, n));
  }
};

class SquaredKernel : public LossKernel {
 public:
  using LossKernel::LossKernel;
  std::string implementation() const override { return "squared error"; }

 protected:
  float forward_sample(const KernelArgs& args, std::int64_t n, OarRun&) const override {
    float sum = 0;
    base::dispatch<SquaredSum>(prediction(args, n), args.src[1] + n * classes_, classes_, &sum);
    return sum / static_cast<float>(classes_);
  }
  void backward_sample(const KernelArgs& args, std::int64_t n, float scale) const override {
    base::dispatch<SquaredGradient>(prediction(args, n), args.src[1] + n * classes_, classes_,
                                    2 * scale / static_cast<float>(classes_), diff(args, n));
  }
};

class LossOp : public Op {
 public:
  explicit LossOp(Loss loss) : loss_(loss) {}

  std::string_view kind() const override {
    switch (loss_) {
      case Loss::softmax_cross_entropy: return "softmax_cross_entropy";
      case Loss::sigmoid_cross_entropy: return "sigmoid_cross_entropy";
      case Loss::squared_error: return "squared_error";
    }
    return "loss";
  }
  bool is_loss() const override { return true; }

  Shape output(std::span<const Shape> src) const override {
    base::check(src.size() == 1 || src.size() == 2, "a loss takes a prediction and a target, not {} inputs",
                src.size());
    if (src[0].rank() != 2)
      base::user_error("the loss {} needs one row of values per sample as prediction, got {}; flatten it first", kind(),
                       src[0].without_batch().text());
    Shape target{src[0][0], loss_ == Loss::softmax_cross_entropy ? 1 : src[0][1]};
    if (src.size() == 1) return target;
    if (!(src[1] == target))
      base::user_error("the loss {} of predictions {} needs targets {} (batch first), got {}", kind(), src[0].text(),
                       target.text(), src[1].text());
    return {src[0][0], 1};
  }

  Cost cost(std::span<const Shape> src) const override {
    const auto count = static_cast<double>(src[0].count());
    return {10 * count, sizeof(float) * (count + static_cast<double>(src.size() > 1 ? src[1].count() : 0))};
  }

  std::unique_ptr<Kernel> compile(const KernelRequest& request) const override {
    const std::vector<Shape> shapes = request.shapes();
    base::check(shapes.size() == 2, "a loss kernel needs a prediction and a target, not {} inputs", shapes.size());
    const Shape out = output(shapes);
    switch (loss_) {
      case Loss::softmax_cross_entropy: return std::make_unique<SoftmaxKernel>(request, out);
      case Loss::sigmoid_cross_entropy: return std::make_unique<SigmoidKernel>(request, out);
      case Loss::squared_error: return std::make_unique<SquaredKernel>(request, out);
    }
    return nullptr;
  }

  void reference_forward(Reference& r) const override { loss_reference_forward(loss_, r); }
  void reference_backward(Reference& r) const override { loss_reference_backward(loss_, r); }

 private:
  Loss loss_;
};

}  // namespace

OpPtr softmax_cross_entropy() { return std::make_shared<LossOp>(Loss::softmax_cross_entropy); }
OpPtr sigmoid_cross_entropy() { return std::make_shared<LossOp>(Loss::sigmoid_cross_entropy); }
OpPtr squared_error() { return std::make_shared<LossOp>(Loss::squared_error); }

OpRow softmax_cross_entropy_row() {
  return {.name = "softmax_cross_entropy",
          .summary = "loss of a classifier; the target is a class index",
          .make = [](base::Spec&) { return softmax_cross_entropy(); }};
}
OpRow sigmoid_cross_entropy_row() {
  return {.name = "sigmoid_cross_entropy",
          .summary = "loss of K independent labels, the mean over K; the target is K values of 0 or 1",
          .make = [](base::Spec&) { return sigmoid_cross_entropy(); }};
}
OpRow squared_error_row() {
  return {.name = "squared_error",
          .summary = "loss of a regression, the mean of (prediction - target)^2 over K values",
          .make = [](base::Spec&) { return squared_error(); }};
}

}  // namespace trireme::ops
