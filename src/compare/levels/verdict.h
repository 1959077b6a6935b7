// Judges the differences between two sides, in L2, against what rounding alone may cause. One thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/sides/sides.h"

namespace trireme::compare {

struct Difference {
  std::string name;       // of the tensor, or "loss"
  double error = 0;       // the norm of the difference over the norm of the reference
  double limit = 0;       // what rounding may cause, for both error and max_error
  double max_error = 0;   // the largest difference over the largest value; 0 where only norms are judged
  double excess() const;  // the larger of both errors over the limit
};

struct Level {
  std::string name;  // "start-equal"
  bool passed = true;
  std::string summary{};           // what was compared, or the first difference
  std::vector<Difference> rows{};  // the worst of each step, or every result of each layer, in order
};

// REQUIRES: both tensors have one shape. The limit is zero.
Difference difference(const store::NamedTensor& one, const store::NamedTensor& reference);

// True for a running statistic, and for a result that belongs to one.
bool is_statistic(const std::string& name);

// True for results of the update alone: slots, and weights that are not running statistics.
bool is_of_update(const std::string& name);

// The effect of rounding on each tensor of a step, learnt from the reference's perturbed steps, which start from the
// same weights. A tensor's band is the largest difference of any perturbed step so far. The gradients' common scale has
// its own band: roundings that jump (a ReLU that opens) hardly change it, a wrong factor does. update-equal's limits
// judge the results of the update alone.
class Bands {
 public:
  // Widens the bands by a perturbed step of the reference.
  void learn(const Tensors& reference, const Tensors& perturbed);
  // Compares our step with the reference, tensor by tensor (same names and shapes; a run error says what is missing).
  std::vector<Difference> judge(const Tensors& ours, const Tensors& reference) const;

 private:
  std::map<std::string, double> bands_;  // by tensor
};
// The thresholds of the bands, by name.
std::map<std::string, double> band_thresholds();
// The difference that is closest to its limit, or furthest beyond it.
const Difference& worst_of(const std::vector<Difference>& all);
// The worst difference beyond its limit, of the kind that a step computes first, because later kinds follow from it.
// Null if all are within their limits.
const Difference* first_of(const std::vector<Difference>& all);

// Compares names, shapes and bits of parameters, statistics and slots.
Level start_equal(const Tensors& ours, const Tensors& theirs);

}  // namespace trireme::compare
