// Tests whether two samples of runs have equal means within a margin: two one-sided t-tests (Schuirmann) with Welch's
// variances. Pure functions; thread-safe.
#pragma once

#include <span>

namespace trireme::compare {

// Significance level of each of the two tests: the probability of calling unequal means equal.
inline constexpr double kRisk = 0.05;

struct Equivalence {
  double mean_a = 0, mean_b = 0;
  double low = 0, high = 0;  // the confidence interval of mean_a - mean_b, at 1 - 2 kRisk
  bool holds = false;        // the interval lies within the margin
};
// REQUIRES: at least two values of each.
Equivalence equivalence(std::span<const double> a, std::span<const double> b, double margin);

// The quantile of Student's t-distribution for this probability (> 0.5).
double student_quantile(double chance, double degrees);

}  // namespace trireme::compare
