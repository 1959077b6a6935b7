// Whether two samples of runs have the same mean, but for a margin: two one-sided t-tests, after Schuirmann, with
// Welch's variances.
#pragma once

#include <span>

namespace trireme::compare {

// The chance that each of the two tests calls unequal means equal.
inline constexpr double kRisk = 0.05;

struct Equivalence {
  double mean_a = 0, mean_b = 0;
  double low = 0, high = 0;  // between which mean_a - mean_b lies, with a confidence of 1 - 2 kRisk
  bool holds = false;        // both within the margin
};
// At least two of each.
Equivalence equivalence(std::span<const double> a, std::span<const double> b, double margin);

// What a variable of Student's distribution with so many degrees of freedom stays below with this chance (> 0.5).
double student_quantile(double chance, double degrees);

}  // namespace trireme::compare
