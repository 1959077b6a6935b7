// Adadelta (Zeiler 2012; formula of torch.optim.Adadelta):
//   d = clip g + (weight decay + l2) w
//   square_avg = rho square_avg + (1 - rho) d^2
//   u = sqrt(delta_avg + eps) / sqrt(square_avg + eps) d
//   delta_avg = rho delta_avg + (1 - rho) u^2
//   w -= lr u
// The default rho is 0.95, as in the paper and in Keras; PyTorch's default is 0.9, which is rho=0.9 here.
#include <fmt/core.h>

#include "optim/rules.h"
#include "optim/update_kernel.h"

namespace trireme::optim {
namespace {

struct AdadeltaRule {
  static constexpr int kSlots = 2;
  float clip, coupled, shrink, minus_lr, rho, one_minus_rho, epsilon;
  TRIREME_INLINE void step(float& w, float g, float* s) const {
    const float d = fma(w, coupled, g * clip);
    s[0] = fma(one_minus_rho * d, d, s[0] * rho);
    const float u = sqrt(s[1] + epsilon) / sqrt(s[0] + epsilon) * d;
    s[1] = fma(one_minus_rho * u, u, s[1] * rho);
    w = fma(u, minus_lr, w * shrink);
  }
};

class Adadelta final : public Optimizer {
 public:
  Adadelta(const CommonOptions& common, double rho, double epsilon) : Optimizer(common), rho_(rho), epsilon_(epsilon) {}
  std::string name() const override { return "adadelta"; }
  int slots() const override { return 2; }
  std::vector<std::string> slot_names() const override { return {"square_avg", "delta_avg"}; }
  void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
              const StepScalars& scalars, float l2) const override {
    const AdadeltaRule rule{static_cast<float>(scalars.clip),
                            coupled(l2),
                            shrink(scalars),
                            static_cast<float>(-scalars.lr),
                            static_cast<float>(rho_),
                            static_cast<float>(1 - rho_),
                            static_cast<float>(epsilon_)};
    run_update(rule, weights, gradient, state, count);
  }

 private:
  std::string own_options() const override { return fmt::format("rho={},eps={}", rho_, epsilon_); }

  double rho_;
  double epsilon_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adadelta(base::Spec& spec) {
  const CommonOptions common = read_common(spec, {.lr = 1.0});
  const double rho = read_decay_rate(spec, "rho", 0.95);
  return std::make_unique<Adadelta>(common, rho, read_epsilon(spec, 1e-6));
}

}  // namespace trireme::optim
