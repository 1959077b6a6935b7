// Optimizer: one update rule over flat spans of a ParameterSpace. It holds options only; state lives in buffers that
// the caller keeps, one float per parameter and slot, zero at the start. All methods are const and safe from any
// thread.
//
// The formulas and their roundings are those of torch.optim (PyTorch 1.13); docs of each rule stand in its file.
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

// What changes from step to step, computed once per step in double on one rank; it travels with the step.
struct StepScalars {
  std::int64_t step = 1;   // updates made, this one included
  double lr = 0;           // learning rate of this step
  double clip = 1;         // factor for the gradient
  double correction1 = 1;  // bias corrections, for the rules that have them
  double correction2 = 1;
};

// Options every rule has. Coupled decay adds weight_decay * w to the gradient; decoupled shrinks the weights by
// lr * weight_decay, apart from the rule.
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
  // State floats per parameter, and what each is called in checkpoints.
  virtual int slots() const = 0;
  virtual std::vector<std::string> slot_names() const = 0;
  // Fills the corrections from scalars.step.
  virtual void prepare(StepScalars& scalars) const;
  // Updates weights[i] and state[s][i] from gradient[i] for i in [0, count), in one pass over memory. l2 is a penalty's
  // factor for this span: gradient += l2 * w, on top of weight decay. Element-wise: any split gives the same bits.
  virtual void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
                      const StepScalars& scalars, float l2) const = 0;

  double lr() const { return common_.lr; }
  // The specification with every option, which make_optimizer reads back.
  std::string text() const;

 protected:
  // The rule's own options as "momentum=0.9,nesterov=no", or empty.
  virtual std::string own_options() const = 0;
  // Factor of w in the gradient, and factor of w before the rule's step.
  float coupled(float l2) const;
  float shrink(const StepScalars& scalars) const;

 private:
  CommonOptions common_;
};

// For reading a rule's options; mistakes are user errors.
// lr, weight-decay and decoupled, with the rule's defaults.
CommonOptions read_common(base::Spec& spec, const CommonOptions& defaults);
// A number at least 0 and below 1: momentum, rho, betas.
double read_decay_rate(base::Spec& spec, const std::string& key, double otherwise);
// A positive number that a float can hold: with an epsilon of zero, padding would become 0 / 0.
double read_epsilon(base::Spec& spec, double otherwise);

struct OptimizerRow {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Optimizer>(base::Spec& spec)> make;  // reads the options
};
using OptimizerRegistry = base::RegistryOf<OptimizerRow>;
[[nodiscard]] OptimizerRegistry builtin_optimizers();

// "sgd:lr=0.1,momentum=0.9,nesterov=yes,weight-decay=5e-4,decoupled=no"; a wrong one is a user error.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(const OptimizerRegistry& optimizers, std::string_view spec);
// One of those that the program comes with.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(std::string_view spec);

}  // namespace trireme::optim
