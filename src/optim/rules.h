// The factories of the update rules (one file per rule), and helpers to read their options. Internal to src/optim.
#pragma once

#include <memory>

#include "base/text/text.h"
#include "optim/optimizer.h"

namespace trireme::optim {

std::unique_ptr<Optimizer> make_sgd(base::Spec& spec);
std::unique_ptr<Optimizer> make_momentum(base::Spec& spec);  // sgd with momentum 0.9
std::unique_ptr<Optimizer> make_nesterov(base::Spec& spec);  // sgd with Nesterov's momentum 0.9
std::unique_ptr<Optimizer> make_adagrad(base::Spec& spec);
std::unique_ptr<Optimizer> make_adadelta(base::Spec& spec);
std::unique_ptr<Optimizer> make_adam(base::Spec& spec);
std::unique_ptr<Optimizer> make_adamw(base::Spec& spec);  // adam with decoupled weight decay 0.01

// lr, weight-decay and decoupled, with the rule's defaults.
CommonOptions read_common(base::Spec& spec, const CommonOptions& defaults);
// A number in [0, 1): momentum, rho, betas.
double read_decay_rate(base::Spec& spec, const std::string& key, double otherwise);
// A positive number that is not zero as a float: with an epsilon of zero, padding would become 0 / 0.
double read_epsilon(base::Spec& spec, double otherwise);

}  // namespace trireme::optim
