#include "ops/centre_tap.h"

#include <algorithm>

#include "base/error.h"

namespace trireme::ops {
namespace {

struct CentreTapState : KernelState {
  KernelArgs args;  // of the 1 x 1 kernel
  std::unique_ptr<KernelState> state;
};

class CentreTapKernel : public Kernel {
 public:
  CentreTapKernel(const KernelRequest& request, const ConvOptions& options) : taps_(Shape(options.kernel).count()) {
    ConvOptions one = options;
    std::fill(one.kernel.begin(), one.kernel.end(), 1);
    std::fill(one.stride.begin(), one.stride.end(), 1);
    std::fill(one.padding.begin(), one.padding.end(), 0);
    KernelRequest inner = request;
    if (!request.weights.empty()) inner.weights[0] = one_tap(request.weights[0]);
    kernel_ = conv(one)->compile(inner);
    plan_ = kernel_->plan();
    const Layout tap = plan_.weights[0];
    plan_.weights[0] = all_taps(tap, Shape(options.kernel));
    base::check(request.weights.empty() || plan_.weights[0] == request.weights[0],
                "the weights of a convolution on single positions lie in another layout");
    tap_floats_ = tap.elements();
    for (KernelPlan::Derived& derived : plan_.derived)
      if (derived.parameter == 0) derived.part = {tap, centre() * tap_floats_};
  }

  std::string implementation() const override { return "centre tap of " + kernel_->implementation(); }

  std::unique_ptr<KernelState> bind(const KernelArgs& args) const override {
    auto bound = std::make_unique<CentreTapState>();
    bound->args = args;
    bound->args.weights[0] += centre() * tap_floats_;
    for (auto& slot : bound->args.diff_weights)
      if (slot[0] != nullptr) slot[0] += centre() * tap_floats_;
    bound->state = kernel_->bind(bound->args);
    return bound;
  }

  void forward(const KernelArgs&, KernelState* state, OarRun& run) const override {
    const auto& bound = *static_cast<CentreTapState*>(state);
    kernel_->forward(bound.args, bound.state.get(), run);
  }

  void backward(const KernelArgs& args, KernelState* state, OarRun& run) const override {
    const auto& bound = *static_cast<CentreTapState*>(state);
    kernel_->backward(bound.args, bound.state.get(), run);
    float* gradient = args.diff_weights[static_cast<std::size_t>(run.slot)][0];
    std::fill_n(gradient, centre() * tap_floats_, 0.0f);
    std::fill_n(gradient + (centre() + 1) * tap_floats_, (taps_ - centre() - 1) * tap_floats_, 0.0f);
  }

 private:
  std::int64_t centre() const { return taps_ / 2; }

  // A layout of O x I x (k x) k weights whose taps, each laid out like `tap`, follow one another.
  static Layout all_taps(const Layout& tap, const Shape& kernel) {
    Layout all = tap;
    std::int64_t stride = tap.elements();
    for (int d = kernel.rank() - 1; d >= 0; --d) {
      all.shape[d + 2] = all.padded[d + 2] = kernel[d];
      all.strides[static_cast<std::size_t>(d + 2)] = stride;
      stride *= kernel[d];
    }
    return all;
  }
  // The way back, with the strides that oneDNN and Layout::plain give to sizes of 1.
  static Layout one_tap(const Layout& all) {
    Layout tap = all;
    std::int64_t block = 1;
    for (const tensor::InnerBlock& inner : all.inner) block *= inner.size;
    for (int d = 2; d < all.shape.rank(); ++d) {
      tap.shape[d] = tap.padded[d] = 1;
      tap.strides[static_cast<std::size_t>(d)] = block;
    }
    return tap;
  }

  std::int64_t taps_;
  std::int64_t tap_floats_ = 0;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace

bool is_centre_tap(const ConvOptions& options, const Shape& src) {
  if (options.groups != 1) return false;
  bool larger = false;
  for (std::size_t d = 0; d < options.kernel.size(); ++d) {
    if (src[static_cast<int>(d) + 2] != 1 || options.kernel[d] != 2 * options.padding[d] + 1) return false;
    larger |= options.kernel[d] > 1;
  }
  return larger;
}

std::unique_ptr<Kernel> make_centre_tap(const KernelRequest& request, const ConvOptions& options) {
  return std::make_unique<CentreTapKernel>(request, options);
}

}  // namespace trireme::ops
