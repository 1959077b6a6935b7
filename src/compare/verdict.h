// How two sides are judged: differences in L2, each with what may be expected of rounding alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/sides.h"

namespace trireme::compare {

struct Difference {
  std::string name;       // of the tensor, or "loss"
  double error = 0;       // the norm of the difference over the norm of the reference
  double limit = 0;       // what rounding may make of it
  double excess() const;  // error / limit
};

struct Level {
  std::string name;  // "start-equal"
  bool passed = true;
  std::string summary{};            // what was compared, or the first thing that differs
  std::vector<Difference> worst{};  // of each step, or layer, in order
};

// Whether a parameter, or what was found of it, is a running statistic.
bool is_statistic(const std::string& name);

// What rounding does, learnt from the reference run again with sums in other orders. All tensors of a kind (gradients,
// weights, running statistics, outputs, losses) and all steps so far have one band: a ReLU or a maximum that tips over
// does so now here, now there.
class Bands {
 public:
  // The reference again.
  void learn(const Tensors& reference, const Tensors& again);
  // Where `ours` is, of the same names and shapes; a run error says what is missing.
  std::vector<Difference> judge(const Tensors& ours, const Tensors& reference) const;

 private:
  std::map<std::string, double> of_kind_;
};
// The one that is closest to its limit, or furthest beyond it.
const Difference& worst_of(const std::vector<Difference>& all);
// Of those beyond their limits, the worst of the kind that a step makes first: what follows from it is beyond them too.
// Null where all are within.
const Difference* first_of(const std::vector<Difference>& all);

// Names, shapes and bits.
Level start_equal(const Tensors& ours, const Tensors& theirs);

}  // namespace trireme::compare
