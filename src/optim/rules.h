// The factories of the update rules, one file each. Inside optim/ only.
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

}  // namespace trireme::optim
