// How two sides are judged: differences in L2, each with what may be expected of rounding alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/sides/sides.h"

namespace trireme::compare {

struct Difference {
  std::string name;       // of the tensor, or "loss"
  double error = 0;       // the norm of the difference over the norm of the reference
  double limit = 0;       // what rounding may make of it, and of:
  double max_error = 0;   // the largest difference over the largest value; 0 where only norms are judged
  double excess() const;  // the larger of both over the limit
};

struct Level {
  std::string name;  // "start-equal"
  bool passed = true;
  std::string summary{};           // what was compared, or the first thing that differs
  std::vector<Difference> rows{};  // the worst of each step, or every result of each layer, in order
};

// Of two tensors of one shape, with a limit of zero.
Difference difference(const store::NamedTensor& one, const store::NamedTensor& reference);

// Whether a parameter, or what was found of it, is a running statistic.
bool is_statistic(const std::string& name);

// Whether what was found under this name is made by the update alone: slots, and weights that are no statistics.
bool is_of_update(const std::string& name);

// What rounding does to each tensor of a step, learnt from the reference's perturbed steps, which start from the same
// weights. A tensor's band is the largest difference that a perturbed step made in any step so far. The gradients'
// common scale has a band of its own: roundings that jump (a ReLU that opens) hardly change it, a wrong factor does.
// What is made by the update alone is left to update-equal's limits.
class Bands {
 public:
  // The reference perturbed.
  void learn(const Tensors& reference, const Tensors& perturbed);
  // Where `ours` is, of the same names and shapes; a run error says what is missing.
  std::vector<Difference> judge(const Tensors& ours, const Tensors& reference) const;

 private:
  std::map<std::string, double> bands_;  // by tensor
};
// By which they are judged, by name.
std::map<std::string, double> band_thresholds();
// The one that is closest to its limit, or furthest beyond it.
const Difference& worst_of(const std::vector<Difference>& all);
// Of those beyond their limits, the worst of the kind that a step makes first: what follows from it is beyond them too.
// Null where all are within.
const Difference* first_of(const std::vector<Difference>& all);

// Names, shapes and bits of parameters, statistics and slots.
Level start_equal(const Tensors& ours, const Tensors& theirs);

}  // namespace trireme::compare
