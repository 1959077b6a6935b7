// Adagrad (Duchi, Hazan, Singer 2011; torch.optim.Adagrad without lr_decay):
//   d = clip g + (weight decay + l2) w;  sum += d^2;  w -= lr d / (sqrt(sum) + eps)
#include <fmt/core.h>

#include "optim/rules.h"
#include "optim/update_kernel.h"

namespace trireme::optim {
namespace {

struct AdagradRule {
  static constexpr int kSlots = 1;
  float clip, coupled, shrink, minus_lr, epsilon;
  TRIREME_INLINE void step(float& w, float g, float* s) const {
    const float d = fma(w, coupled, g * clip);
    s[0] = fma(d, d, s[0]);
    w = w * shrink + minus_lr * d / (sqrt(s[0]) + epsilon);
  }
};

class Adagrad final : public Optimizer {
 public:
  Adagrad(const CommonOptions& common, double epsilon) : Optimizer(common), epsilon_(epsilon) {}
  std::string name() const override { return "adagrad"; }
  int slots() const override { return 1; }
  std::vector<std::string> slot_names() const override { return {"square_sum"}; }
  void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
              const StepScalars& scalars, float l2) const override {
    const AdagradRule rule{static_cast<float>(scalars.clip), coupled(l2), shrink(scalars),
                           static_cast<float>(-scalars.lr), static_cast<float>(epsilon_)};
    run_update(rule, weights, gradient, state, count);
  }

 private:
  std::string own_options() const override { return fmt::format("eps={}", epsilon_); }

  double epsilon_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adagrad(base::Spec& spec) {
  const CommonOptions common = read_common(spec, {.lr = 0.01});
  return std::make_unique<Adagrad>(common, read_epsilon(spec, 1e-10));
}

}  // namespace trireme::optim
