#include "comm/mailbox/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace trireme::comm {
namespace {

constexpr std::int64_t kInterval = 500'000'000, kMemory = 30'000'000'000;  // ns
constexpr std::int64_t kLatest = std::int64_t{1} << 60;
constexpr double kSecond = 1e9, kRecent = 0.25e9;
constexpr double kMostDrift = 5e-4;  // of two clocks: what kernels adjust at most
constexpr double kMostOff = 2;       // of a point from the fit, in errors
constexpr double kWander = 1e-6;     // by which drift may change within the memory of the fit

}  // namespace

void ClockFit::add(const ClockExchange& exchange) {
  // What comes from elsewhere may be anything; sums and differences must not overflow.
  for (const std::int64_t time : {exchange.asked_ns, exchange.answer_ns, exchange.answered_ns})
    if (time > kLatest || time < -kLatest) return;
  const std::int64_t round_trip = exchange.answered_ns - exchange.asked_ns;
  if (round_trip < 0) return;
  const Point point{exchange.asked_ns + round_trip / 2, exchange.asked_ns + round_trip / 2 - exchange.answer_ns,
                    round_trip / 2 + 1};
  if (points_.empty() || point.at_ns / kInterval != points_.back().at_ns / kInterval)
    points_.push_back(point);
  else if (point.error_ns < points_.back().error_ns)
    points_.back() = point;
  while (points_.front().at_ns < point.at_ns - kMemory) points_.pop_front();
}

// Least squares, weighted by the inverse square of each error. Times and offsets are relative to the newest point.
struct ClockFit::Line {
  double middle = 0, mean = 0, slope = 0;
  double operator()(double time) const { return mean + slope * (time - middle); }
};

double ClockFit::time_of(std::size_t i) const { return static_cast<double>(points_[i].at_ns - points_.back().at_ns); }
double ClockFit::offset_of(std::size_t i) const {
  return static_cast<double>(points_[i].ahead_ns - points_.back().ahead_ns);
}
double ClockFit::error_of(std::size_t i) const { return static_cast<double>(points_[i].error_ns); }

ClockFit::Line ClockFit::line_from(std::size_t first) const {
  Line line;
  double weights = 0, square = 0, product = 0;
  const auto weight_of = [&](std::size_t i) { return 1 / (error_of(i) * error_of(i)); };
  for (std::size_t i = first; i < points_.size(); ++i) {
    weights += weight_of(i);
    line.middle += weight_of(i) * time_of(i);
    line.mean += weight_of(i) * offset_of(i);
  }
  line.middle /= weights;
  line.mean /= weights;
  for (std::size_t i = first; i < points_.size(); ++i) {
    square += weight_of(i) * std::pow(time_of(i) - line.middle, 2);
    product += weight_of(i) * (time_of(i) - line.middle) * (offset_of(i) - line.mean);
  }
  if (-time_of(first) >= kSecond) line.slope = std::clamp(product / square, -kMostDrift, kMostDrift);
  return line;
}

base::ClockModel ClockFit::at(std::int64_t own_ns) const {
  if (points_.empty()) return {.at_ns = own_ns, .bound_ns = -1};
  // The newest points that lie on a straight line: a clock may be told to run faster or slower.
  std::size_t first = 0;
  Line fit = line_from(first);
  const auto is_off = [&](std::size_t i) {
    return std::abs(fit(time_of(i)) - offset_of(i)) > kMostOff * error_of(i) + kWander * -time_of(i);
  };
  const auto any_is_off = [&] {
    for (std::size_t i = first; i < points_.size(); ++i)
      if (is_off(i)) return true;
    return false;
  };
  while (points_.size() - first > 2 && any_is_off()) {
    first += (points_.size() - first) / 2;
    fit = line_from(first);
  }
  // |fit - truth| at each point.
  std::vector<double> radius(points_.size());
  for (std::size_t i = first; i < points_.size(); ++i)
    radius[i] = std::abs(fit(time_of(i)) - offset_of(i)) + error_of(i);
  const auto bound_at = [&](double time) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t j = first; j < points_.size(); ++j) {
      double speed = kMostDrift + std::abs(fit.slope);  // at which the error may change
      for (std::size_t i = first; i < points_.size(); ++i)
        if (i != j) speed = std::min(speed, (radius[i] + radius[j]) / std::abs(time_of(i) - time_of(j)) + kWander);
      best = std::min(best, radius[j] + speed * std::abs(time - time_of(j)));
    }
    return best;
  };
  const Point& newest = points_.back();
  const auto now = static_cast<double>(own_ns - newest.at_ns);
  return {newest.at_ns, newest.ahead_ns + static_cast<std::int64_t>(std::llround(fit(0))), fit.slope,
          static_cast<std::int64_t>(std::ceil(std::max(bound_at(now), bound_at(now - kRecent))))};
}

}  // namespace trireme::comm
