// The worked example of CONTRIBUTING.md for an optimizer: each weight moves by the learning rate against the sign of
// its gradient.
#pragma once

#include "optim/optimizer.h"
#include "optim/rules.h"
#include "optim/update_kernel.h"

namespace trireme::own_parts {

// One element; run_update() compiles the loop for every instruction set.
struct SignRule {
  static constexpr int kSlots = 0;
  float clip, coupled, shrink, minus_lr;
  TRIREME_INLINE void step(float& w, float g, float*) const {
    const float d = optim::fma(w, coupled, g * clip);
    const float sign = static_cast<float>(d > 0) - static_cast<float>(d < 0);  // 0 stays 0: so does padding
    w = optim::fma(minus_lr, sign, w * shrink);
  }
};

class SignSgd : public optim::Optimizer {
 public:
  explicit SignSgd(const optim::CommonOptions& common) : Optimizer(common) {}
  std::string name() const override { return "signsgd"; }
  int slots() const override { return 0; }
  std::vector<std::string> slot_names() const override { return {}; }
  void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
              const optim::StepScalars& scalars, float l2) const override {
    const SignRule rule{static_cast<float>(scalars.clip), coupled(l2), shrink(scalars),
                        static_cast<float>(-scalars.lr)};
    optim::run_update(rule, weights, gradient, state, count);
  }

 private:
  std::string own_options() const override { return ""; }
};

inline optim::OptimizerRow signsgd_row() {
  return {"signsgd", "each weight moves by the learning rate against its gradient's sign",
          [](base::Spec& spec) { return std::make_unique<SignSgd>(optim::read_common(spec, {.lr = 0.001})); }};
}

}  // namespace trireme::own_parts
