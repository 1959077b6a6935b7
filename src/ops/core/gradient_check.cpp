#include "ops/core/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"
#include "tensor/buffer.h"

namespace trireme::ops {
namespace {

constexpr float kStep = 1.0f / 128;
constexpr std::size_t kMostElements = 200;  // of a tensor, evenly spread

// A tensor and its gradient.
struct Tensor {
  Layout layout;
  bool is_statistic = false;
  std::vector<float> values;  // plain
  tensor::Buffer memory, gradient;

  Tensor(const Layout& wanted, const base::CounterRng& rng)
      : layout(wanted),
        values(static_cast<std::size_t>(wanted.shape.count())),
        memory(wanted.bytes()),
        gradient(wanted.bytes()) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 2 * rng.uniform(i) - 1;
    write();
  }
  void write() { tensor::from_plain(layout, values.data(), memory.floats()); }
};

std::vector<float> plain_of(const Layout& layout, const float* memory) {
  std::vector<float> plain(static_cast<std::size_t>(layout.shape.count()));
  tensor::to_plain(layout, memory, plain.data());
  return plain;
}

// One kernel of the op with memory for all that it reads and writes. Its loss is the sum of dst, each element times a
// random factor.
class Trial {
 public:
  Trial(const Op& op, const std::vector<Layout>& offered)
      : op_(op),
        kernel_(op.compile(request_for(offered))),
        plan_(kernel_->plan()),
        dst_(plan_.dst, rng(0)),
        workspace_(plan_.workspace_bytes),
        scratch_(plan_.scratch_bytes),
        indices_(static_cast<std::size_t>(offered[0].shape[0])) {
    base::check(!op.is_loss() && !plan_.view, "gradient_error() is not for losses and views such as '{}'", op.kind());
    std::iota(indices_.begin(), indices_.end(), std::int64_t{0});
    factors_ = dst_.values;
    for (const Layout& layout : plan_.src) tensors_.emplace_back(layout, rng(tensors_.size() + 1));
    std::vector<Shape> shapes;
    for (const Layout& layout : offered) shapes.push_back(layout.shape);
    const std::vector<ParameterSpec> parameters = op.parameters(shapes);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      tensors_.emplace_back(plan_.weights[p], rng(tensors_.size() + 1));
      tensors_.back().is_statistic = parameters[p].is_statistic();
    }
    for (const KernelPlan::Derived& derived : plan_.derived) derived_.emplace_back(derived.layout, rng(0));
    give_memory();
  }

  double largest_error() {
    loss();
    tensor::from_plain(dst_.layout, factors_.data(), dst_.gradient.floats());
    OarRun run = new_run();
    kernel_->backward(args_, state_.get(), run);
    double worst = 0;
    for (Tensor& tensor : tensors_)
      if (!tensor.is_statistic) worst = std::max(worst, error_of(tensor));
    return worst;
  }

 private:
  static KernelRequest request_for(const std::vector<Layout>& offered) {
    KernelRequest request;
    request.src = offered;
    request.diff_src.assign(offered.size(), true);
    return request;
  }
  static base::CounterRng rng(std::uint64_t tensor) { return {1, base::Purpose::probe, 0, tensor}; }

  void give_memory() {
    args_.dst = dst_.memory.floats();
    args_.diff_dst = dst_.gradient.floats();
    args_.diff_weights.resize(1);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      float *values = tensors_[i].memory.floats(), *gradient = tensors_[i].gradient.floats();
      if (i < plan_.src.size()) {
        args_.src.emplace_back(values);
        args_.diff_src.emplace_back(gradient);
      } else {
        args_.weights.emplace_back(values);
        args_.diff_weights[0].emplace_back(gradient);
      }
    }
    for (const Tensor& derived : derived_) args_.derived.emplace_back(derived.memory.floats());
    args_.workspace = workspace_.data();
    args_.scratch = scratch_.data();
    state_ = kernel_->bind(args_);
  }

  OarRun new_run() const { return {.seed = 1, .sample_indices = indices_}; }

  double loss() {
    for (std::size_t d = 0; d < derived_.size(); ++d) {
      derived_[d].values = tensors_[plan_.src.size() + static_cast<std::size_t>(plan_.derived[d].parameter)].values;
      derived_[d].write();
    }
    OarRun run = new_run();
    kernel_->forward(args_, state_.get(), run);
    dst_.values = plain_of(dst_.layout, dst_.memory.floats());
    check_padding();
    return std::inner_product(dst_.values.begin(), dst_.values.end(), factors_.begin(), 0.0, std::plus<>(),
                              [](float a, float b) { return static_cast<double>(a) * static_cast<double>(b); });
  }

  void check_padding() const {
    const tensor::Buffer clean(dst_.layout.bytes());
    tensor::from_plain(dst_.layout, dst_.values.data(), clean.floats());
    if (dst_.layout.has_padding() && std::memcmp(clean.data(), dst_.memory.data(), clean.bytes()) != 0)
      base::user_error("op '{}' leaves values in the padding of the layout {}; padding must stay zero", op_.kind(),
                       dst_.layout.text());
  }

  double error_of(Tensor& tensor) {
    const std::vector<float> gradient = plain_of(tensor.layout, tensor.gradient.floats());
    double worst = 0, largest = 1e-6;
    for (const float g : gradient) largest = std::max(largest, std::fabs(static_cast<double>(g)));
    const std::size_t stride = (gradient.size() + kMostElements - 1) / kMostElements;
    for (std::size_t i = 0; i < gradient.size(); i += stride) {
      const float value = tensor.values[i], above = value + kStep, below = value - kStep;
      const auto loss_at = [&](float x) {
        tensor.values[i] = x;
        tensor.write();
        return loss();
      };
      const double slope = (loss_at(above) - loss_at(below)) / static_cast<double>(above - below);
      loss_at(value);
      const double error = std::fabs(slope - static_cast<double>(gradient[i])) / largest;
      worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
    }
    return worst;
  }

  const Op& op_;
  std::unique_ptr<Kernel> kernel_;
  const KernelPlan& plan_;
  Tensor dst_;
  std::vector<float> factors_;
  std::vector<Tensor> tensors_, derived_;  // inputs, then parameters
  tensor::Buffer workspace_, scratch_;
  std::vector<std::int64_t> indices_;
  KernelArgs args_;
  std::unique_ptr<KernelState> state_;
};

}  // namespace

double gradient_error(const Op& op, const std::vector<Shape>& src) {
  std::vector<Layout> plain, blocked;
  for (const Shape& shape : src) {
    plain.push_back(Layout::plain(shape));
    if (shape.rank() > 2) blocked.push_back(Layout::channels_blocked(shape, 16));
  }
  const double error = Trial(op, plain).largest_error();
  return blocked.size() < src.size() ? error : std::max(error, Trial(op, blocked).largest_error());
}

}  // namespace trireme::ops
