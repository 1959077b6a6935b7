#include "watch/show/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trireme::watch {
namespace {

std::string power_of_ten(double exponent) {
  return exponent >= -2 && exponent <= 4 ? fmt::format("{:g}", std::pow(10, exponent))
                                         : fmt::format("10<tspan dy=\"-5\" font-size=\"10\">{:g}</tspan>", exponent);
}

}  // namespace

double rule_distance(double range) {
  const double rough = range / 5, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

bool Axis::can_show(double value) const { return std::isfinite(value) && (scale_ == Scale::linear || value > 0); }

double Axis::position(double value) const { return scale_ == Scale::linear ? value : std::log10(value); }

void Axis::include(double value) {
  if (!can_show(value)) return;
  const double at = position(value);
  low_ = is_empty_ ? at : std::min(low_, at);
  high_ = is_empty_ ? at : std::max(high_, at);
  is_empty_ = false;
}

void Axis::finish() {
  if (scale_ == Scale::linear && low_ < high_) step_ = rule_distance(high_ - low_);
  low_ = std::floor(low_ / step_) * step_;
  high_ = std::ceil(high_ / step_) * step_;
  if (low_ == high_) high_ += step_;
}

double Axis::share(double value) const { return (position(value) - low_) / (high_ - low_); }

std::vector<Axis::Rule> Axis::rules() const {
  std::vector<Rule> all;
  const auto count = std::llround((high_ - low_) / step_);
  for (long long i = 0; i <= count; ++i) {
    const double at = low_ + static_cast<double>(i) * step_;
    const bool is_zero = std::abs(at) < 1e-9 * step_;  // not -1e-17
    all.push_back({(at - low_) / (high_ - low_), scale_ == Scale::logarithmic ? power_of_ten(std::round(at))
                                                                              : fmt::format("{:g}", is_zero ? 0 : at)});
  }
  return all;
}

}  // namespace trireme::watch
