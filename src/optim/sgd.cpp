// Stochastic gradient descent (torch.optim.SGD, dampening 0):
//   d = clip g + (weight decay + l2) w
//   plain:    w -= lr d
//   momentum: m = momentum m + d;  w -= lr m
//   Nesterov: m = momentum m + d;  w -= lr (d + momentum m)
// The learning rate is outside the momentum, so a change of the rate takes effect at once.
#include <fmt/core.h>

#include "base/error.h"
#include "optim/rules.h"
#include "optim/update_kernel.h"

namespace trireme::optim {
namespace {

struct PlainRule {
  static constexpr int kSlots = 0;
  float clip, coupled, shrink, minus_lr;
  TRIREME_INLINE void step(float& w, float g, float*) const {
    const float d = fma(w, coupled, g * clip);
    w = fma(d, minus_lr, w * shrink);
  }
};

struct MomentumRule {
  static constexpr int kSlots = 1;
  float clip, coupled, shrink, minus_lr, momentum;
  TRIREME_INLINE void step(float& w, float g, float* s) const {
    const float d = fma(w, coupled, g * clip);
    s[0] = s[0] * momentum + d;
    w = fma(s[0], minus_lr, w * shrink);
  }
};

struct NesterovRule {
  static constexpr int kSlots = 1;
  float clip, coupled, shrink, minus_lr, momentum;
  TRIREME_INLINE void step(float& w, float g, float* s) const {
    const float d = fma(w, coupled, g * clip);
    s[0] = s[0] * momentum + d;
    w = fma(fma(s[0], momentum, d), minus_lr, w * shrink);
  }
};

class Sgd final : public Optimizer {
 public:
  Sgd(const CommonOptions& common, double momentum, bool nesterov)
      : Optimizer(common), momentum_(momentum), nesterov_(nesterov) {}
  std::string name() const override { return "sgd"; }
  int slots() const override { return momentum_ > 0 ? 1 : 0; }
  std::vector<std::string> slot_names() const override {
    return momentum_ > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
  }
  void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
              const StepScalars& scalars, float l2) const override {
    const auto clip = static_cast<float>(scalars.clip);
    const auto minus_lr = static_cast<float>(-scalars.lr);
    const auto momentum = static_cast<float>(momentum_);
    const float couple = coupled(l2), shrunk = shrink(scalars);
    if (momentum_ == 0)
      run_update(PlainRule{clip, couple, shrunk, minus_lr}, weights, gradient, state, count);
    else if (nesterov_)
      run_update(NesterovRule{clip, couple, shrunk, minus_lr, momentum}, weights, gradient, state, count);
    else
      run_update(MomentumRule{clip, couple, shrunk, minus_lr, momentum}, weights, gradient, state, count);
  }

 private:
  std::string own_options() const override {
    return fmt::format("momentum={},nesterov={}", momentum_, nesterov_ ? "yes" : "no");
  }

  double momentum_;
  bool nesterov_;
};

std::unique_ptr<Optimizer> make_any_sgd(base::Spec& spec, double default_momentum, bool default_nesterov) {
  const CommonOptions common = read_common(spec, {.lr = 0.01});
  const double momentum = read_decay_rate(spec, "momentum", default_momentum);
  const bool nesterov = spec.flag("nesterov", default_nesterov);
  if (nesterov && momentum == 0)
    base::user_error("optimizer {}: nesterov=yes needs a momentum above 0, for example momentum=0.9", spec.name());
  return std::make_unique<Sgd>(common, momentum, nesterov);
}

}  // namespace

std::unique_ptr<Optimizer> make_sgd(base::Spec& spec) { return make_any_sgd(spec, 0, false); }
std::unique_ptr<Optimizer> make_momentum(base::Spec& spec) { return make_any_sgd(spec, 0.9, false); }
std::unique_ptr<Optimizer> make_nesterov(base::Spec& spec) { return make_any_sgd(spec, 0.9, true); }

}  // namespace trireme::optim
