// Adam and AdamW (Kingma, Ba 2015; Loshchilov, Hutter 2019; formulas of torch.optim.Adam and AdamW):
//   d = clip g + (weight decay + l2) w                     (AdamW: w *= 1 - lr weight decay instead)
//   m = beta1 m + (1 - beta1) d;  v = beta2 v + (1 - beta2) d^2
//   w -= lr / correction1 * m / (sqrt(v) / sqrt(correction2) + eps),  correction_k = 1 - beta_k^step
#include <fmt/core.h>

#include <cmath>

#include "base/error.h"
#include "optim/rules.h"
#include "optim/update_kernel.h"

namespace trireme::optim {
namespace {

struct AdamRule {
  static constexpr int kSlots = 2;
  float clip, coupled, shrink, minus_step_size, beta1, one_minus_beta1, beta2, one_minus_beta2, root_correction2,
      epsilon;
  TRIREME_INLINE void step(float& w, float g, float* s) const {
    const float d = fma(w, coupled, g * clip);
    s[0] = fma(d, one_minus_beta1, s[0] * beta1);
    s[1] = fma(one_minus_beta2 * d, d, s[1] * beta2);
    const float root = sqrt(s[1]) / root_correction2 + epsilon;
    w = w * shrink + minus_step_size * s[0] / root;
  }
};

// x^n by squaring: multiplications only, so the same bits on every machine.
double power(double x, std::int64_t n) {
  double result = 1;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result *= x;
    x *= x;
  }
  return result;
}

class Adam final : public Optimizer {
 public:
  Adam(const CommonOptions& common, double beta1, double beta2, double epsilon)
      : Optimizer(common), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {}
  std::string name() const override { return "adam"; }
  int slots() const override { return 2; }
  std::vector<std::string> slot_names() const override { return {"mean", "square_avg"}; }
  void prepare(StepScalars& scalars) const override {
    base::check(scalars.step >= 1, "adam's steps count from 1, this one is {}", scalars.step);
    scalars.correction1 = 1 - power(beta1_, scalars.step);
    scalars.correction2 = 1 - power(beta2_, scalars.step);
  }
  void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
              const StepScalars& scalars, float l2) const override {
    AdamRule rule;
    rule.clip = static_cast<float>(scalars.clip);
    rule.coupled = coupled(l2);
    rule.shrink = shrink(scalars);
    rule.minus_step_size = static_cast<float>(-(scalars.lr / scalars.correction1));
    rule.beta1 = static_cast<float>(beta1_);
    rule.one_minus_beta1 = static_cast<float>(1 - beta1_);
    rule.beta2 = static_cast<float>(beta2_);
    rule.one_minus_beta2 = static_cast<float>(1 - beta2_);
    rule.root_correction2 = static_cast<float>(std::sqrt(scalars.correction2));
    rule.epsilon = static_cast<float>(epsilon_);
    run_update(rule, weights, gradient, state, count);
  }

 private:
  std::string own_options() const override { return fmt::format("beta1={},beta2={},eps={}", beta1_, beta2_, epsilon_); }

  double beta1_;
  double beta2_;
  double epsilon_;
};

std::unique_ptr<Optimizer> make_any_adam(base::Spec& spec, const CommonOptions& defaults) {
  const CommonOptions common = read_common(spec, defaults);
  const double beta1 = read_decay_rate(spec, "beta1", 0.9);
  const double beta2 = read_decay_rate(spec, "beta2", 0.999);
  return std::make_unique<Adam>(common, beta1, beta2, read_epsilon(spec, 1e-8));
}

}  // namespace

std::unique_ptr<Optimizer> make_adam(base::Spec& spec) { return make_any_adam(spec, {.lr = 1e-3}); }
std::unique_ptr<Optimizer> make_adamw(base::Spec& spec) {
  return make_any_adam(spec, {.lr = 1e-3, .weight_decay = 0.01, .decoupled = true});
}

}  // namespace trireme::optim
