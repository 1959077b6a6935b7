// Optimizer: one update rule over flat spans of a ParameterSpace. It holds only options; the caller keeps the state:
// one float per parameter and slot, initially zero.
// All methods are const and thread-safe.
//
// Formulas and roundings are those of torch.optim (PyTorch 1.13); each rule's file documents them.
// Adding a rule: its file, its factory in rules.h, one line in builtin_optimizers(), one row in the tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/registry.h"
#include "base/text/text.h"

namespace trireme::optim {

// The values that change from step to step. One rank computes them once per step, in double, and they are sent along
// with the step.
struct StepScalars {
  std::int64_t step = 1;   // number of updates, including this one
  double lr = 0;           // learning rate of this step
  double clip = 1;         // factor applied to the gradient
  double correction1 = 1;  // bias corrections, for rules that have them
  double correction2 = 1;
};

// Options of every rule. Coupled decay adds weight_decay * w to the gradient; decoupled decay shrinks the weights by
// lr * weight_decay, separately from the rule.
struct CommonOptions {
  double lr = 0;
  double weight_decay = 0;
  bool decoupled = false;
};

class Optimizer {
 public:
  explicit Optimizer(const CommonOptions& common) : common_(common) {}
  virtual ~Optimizer() = default;

  virtual std::string name() const = 0;
  // Number of state floats per parameter, and the name of each slot in checkpoints.
  virtual int slots() const = 0;
  virtual std::vector<std::string> slot_names() const = 0;
  // Fills the corrections from scalars.step.
  virtual void prepare(StepScalars& scalars) const;
  // Updates weights[i] and state[s][i] from gradient[i] for i in [0, count), in one pass over memory. `l2`: factor of
  // the L2 penalty on this span: gradient += l2 * w, in addition to weight decay. Element-wise, so any split of the
  // range gives the same bits.
  virtual void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
                      const StepScalars& scalars, float l2) const = 0;

  double lr() const { return common_.lr; }
  // The specification with all options; make_optimizer() parses it.
  std::string text() const;

 protected:
  // The rule's own options as "momentum=0.9,nesterov=no", or empty.
  virtual std::string own_options() const = 0;
  // coupled(): factor of w in the gradient. shrink(): factor applied to w before the rule's step.
  float coupled(float l2) const;
  float shrink(const StepScalars& scalars) const;

 private:
  CommonOptions common_;
};

// Readers of a rule's options; mistakes are user errors.
// lr, weight-decay and decoupled, with the rule's defaults.
CommonOptions read_common(base::Spec& spec, const CommonOptions& defaults);
// A number in [0, 1): momentum, rho, betas.
double read_decay_rate(base::Spec& spec, const std::string& key, double otherwise);
// A positive number that is not zero as a float: with an epsilon of zero, padding would become 0 / 0.
double read_epsilon(base::Spec& spec, double otherwise);

struct OptimizerRow {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Optimizer>(base::Spec& spec)> make;  // reads the options
};
using OptimizerRegistry = base::RegistryOf<OptimizerRow>;
[[nodiscard]] OptimizerRegistry builtin_optimizers();

// spec: "sgd:lr=0.1,momentum=0.9,nesterov=yes,weight-decay=5e-4,decoupled=no". A wrong one is a user error.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(const OptimizerRegistry& optimizers, std::string_view spec);
// The same with builtin_optimizers().
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(std::string_view spec);

}  // namespace trireme::optim
