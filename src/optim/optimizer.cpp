#include "optim/optimizer.h"

#include <fmt/core.h>

#include "base/error.h"
#include "optim/rules.h"

namespace trireme::optim {
void Optimizer::prepare(StepScalars& scalars) const {
  scalars.correction1 = 1;
  scalars.correction2 = 1;
}

std::string Optimizer::text() const {
  const std::string own = own_options();
  return fmt::format("{}:lr={}{}{},weight-decay={},decoupled={}", name(), common_.lr, own.empty() ? "" : ",", own,
                     common_.weight_decay, common_.decoupled ? "yes" : "no");
}

float Optimizer::coupled(float l2) const {
  const double decay = common_.decoupled ? 0 : common_.weight_decay;
  return static_cast<float>(decay + static_cast<double>(l2));
}

float Optimizer::shrink(const StepScalars& scalars) const {
  return common_.decoupled ? static_cast<float>(1 - scalars.lr * common_.weight_decay) : 1.0f;
}

OptimizerRegistry builtin_optimizers() {
  return OptimizerRegistry(
      "optimizer",
      {{"sgd", "stochastic gradient descent, with or without momentum", make_sgd},
       {"momentum", "sgd with momentum 0.9", make_momentum},
       {"nesterov", "sgd with Nesterov's momentum 0.9", make_nesterov},
       {"adagrad", "each weight's rate falls with the sum of its squared gradients", make_adagrad},
       {"adadelta", "running averages of squared gradients and squared updates set each weight's rate", make_adadelta},
       {"adam", "running mean over running root mean square, with bias corrections", make_adam},
       {"adamw", "adam with decoupled weight decay", make_adamw}});
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerRegistry& optimizers, std::string_view text) {
  base::Spec spec("optimizer", text);
  auto made = optimizers.get(spec.name()).make(spec);
  spec.finish();
  return made;
}

std::unique_ptr<Optimizer> make_optimizer(std::string_view text) { return make_optimizer(builtin_optimizers(), text); }

CommonOptions read_common(base::Spec& spec, const CommonOptions& defaults) {
  CommonOptions common;
  common.lr = spec.number("lr", defaults.lr);
  common.weight_decay = spec.number("weight-decay", defaults.weight_decay);
  common.decoupled = spec.flag("decoupled", defaults.decoupled);
  if (common.lr < 0) base::user_error("optimizer option {}:lr is {}, expected 0 or more", spec.name(), common.lr);
  if (common.weight_decay < 0)
    base::user_error("optimizer option {}:weight-decay is {}, expected 0 or more", spec.name(), common.weight_decay);
  return common;
}

double read_decay_rate(base::Spec& spec, const std::string& key, double otherwise) {
  const double rate = spec.number(key, otherwise);
  if (rate < 0 || rate >= 1)
    base::user_error("optimizer option {}:{} is {}, expected at least 0 and below 1", spec.name(), key, rate);
  return rate;
}

double read_epsilon(base::Spec& spec, double otherwise) {
  const double epsilon = spec.number("eps", otherwise);
  if (epsilon < 1e-30 || epsilon > 1e30)
    base::user_error("optimizer option {}:eps is {}, expected between 1e-30 and 1e30", spec.name(), epsilon);
  return epsilon;
}

}  // namespace trireme::optim
