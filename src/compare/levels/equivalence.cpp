#include "compare/levels/equivalence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace trireme::compare {
namespace {

struct Moments {
  double mean = 0, variance_of_mean = 0, degrees = 0;
};
Moments moments_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (count - 1) / count, count - 1};
}

// Student's cumulative distribution at x >= 0: one half, plus the integral of the density from 0 to x by Simpson's rule
// on x = tan(y), where the density is smooth and bounded.
double student_below(double x, double degrees) {
  constexpr int kPieces = 2000;
  const double factor =
      std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2)) / std::sqrt(degrees * std::acos(-1.0));
  const auto density = [&](double y) {
    const double t = std::tan(y), cosine = std::cos(y);
    return factor * std::pow(1 + t * t / degrees, -(degrees + 1) / 2) / (cosine * cosine);
  };
  const double end = std::atan(x), width = end / kPieces;
  double sum = density(0) + density(end);
  for (int i = 1; i < kPieces; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(width * i);
  return 0.5 + sum * width / 3;
}

}  // namespace

double student_quantile(double chance, double degrees) {
  double low = 0, high = 1;
  while (student_below(high, degrees) < chance && high < 1e6) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_below(middle, degrees) < chance ? low : high) = middle;
  }
  return (low + high) / 2;
}

Equivalence equivalence(std::span<const double> a, std::span<const double> b, double margin) {
  base::check(a.size() >= 2 && b.size() >= 2, "an equivalence of {} and {} runs", a.size(), b.size());
  const Moments of_a = moments_of(a), of_b = moments_of(b);
  Equivalence found{.mean_a = of_a.mean, .mean_b = of_b.mean};
  const double variance = of_a.variance_of_mean + of_b.variance_of_mean;
  double half = 0;
  if (variance > 0) {
    const auto share = [](const Moments& of) { return of.variance_of_mean * of.variance_of_mean / of.degrees; };
    const double degrees = variance * variance / (share(of_a) + share(of_b));
    half = student_quantile(1 - kRisk, degrees) * std::sqrt(variance);
  }
  found.low = of_a.mean - of_b.mean - half;
  found.high = of_a.mean - of_b.mean + half;
  found.holds = -margin < found.low && found.high < margin;
  return found;
}

}  // namespace trireme::compare
