// Axis: where the values of a plot lie along one of its sides, and where its grid lines are. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "watch/show/plot.h"

namespace trireme::watch {

// The distance of grid lines: 1, 2 or 5 times a power of ten, so that about five lie in `range`.
double rule_distance(double range);

class Axis {
 public:
  explicit Axis(Scale scale) : scale_(scale) {}

  // Values that the axis cannot show (not finite; not above 0 on a logarithmic axis) are left out.
  bool can_show(double value) const;
  void include(double value);
  // Rounds the ends to grid lines; before this call share() and rules() mean nothing.
  void finish();

  // Between 0 and 1 for values between the ends.
  double share(double value) const;

  struct Rule {
    double share;
    std::string label;  // SVG
  };
  std::vector<Rule> rules() const;

 private:
  double position(double value) const;

  Scale scale_;
  double low_ = 0, high_ = 0, step_ = 1;  // positions: values, or exponents of ten
  bool is_empty_ = true;
};

}  // namespace trireme::watch
