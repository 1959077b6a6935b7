// An optimizer of your own: Lion, which moves each weight by the sign of a running mean of its gradient.
//   own_optimizer train --model mnist-cnn --data mnist --optimizer lion:lr=3e-4
#include <fmt/core.h>
#include <trireme/optimizer.h>
#include <trireme/program.h>

// The rule for one weight: constants of this step, and what happens to weight w with gradient g and state s.
struct LionRule {
  static constexpr int kSlots = 1;
  float clip, coupled, shrink, lr, beta1, beta2;
  TRIREME_INLINE void step(float& w, float g, float* s) const {
    const float gradient = g * clip + coupled * w;
    const float direction = beta1 * s[0] + (1.0f - beta1) * gradient;
    s[0] = beta2 * s[0] + (1.0f - beta2) * gradient;
    w = w * shrink - lr * static_cast<float>((direction > 0.0f) - (direction < 0.0f));
  }
};

class Lion : public trireme::Optimizer {
 public:
  Lion(const trireme::CommonOptions& common, double beta1, double beta2)
      : Optimizer(common), beta1_(beta1), beta2_(beta2) {}
  std::string name() const override { return "lion"; }
  int slots() const override { return 1; }
  std::vector<std::string> slot_names() const override { return {"mean"}; }
  void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
              const trireme::StepScalars& scalars, float l2) const override {
    const LionRule rule{static_cast<float>(scalars.clip),
                        coupled(l2),
                        shrink(scalars),
                        static_cast<float>(scalars.lr),
                        static_cast<float>(beta1_),
                        static_cast<float>(beta2_)};
    trireme::run_update(rule, weights, gradient, state, count);
  }

 private:
  std::string own_options() const override { return fmt::format("beta1={},beta2={}", beta1_, beta2_); }
  double beta1_, beta2_;
};

std::unique_ptr<trireme::Optimizer> make_lion(trireme::Spec& spec) {
  const trireme::CommonOptions common = trireme::read_common(spec, {.lr = 1e-4, .decoupled = true});
  const double beta1 = trireme::read_decay_rate(spec, "beta1", 0.9);
  return std::make_unique<Lion>(common, beta1, trireme::read_decay_rate(spec, "beta2", 0.99));
}

int main(int argc, char** argv) {
  trireme::Program program;
  program.add_optimizer({.name = "lion", .summary = "the sign of a running mean of the gradient", .make = make_lion});
  return program.run(argc, argv);
}
