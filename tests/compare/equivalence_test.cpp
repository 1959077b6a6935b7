// Student's distribution against its tables, and what counts as learning the same.
#include "compare/levels/equivalence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compare/levels/convergence.h"

namespace trireme::compare {
namespace {

TEST(StudentQuantile, IsThatOfTheTables) {
  EXPECT_NEAR(student_quantile(0.95, 1), 6.3138, 1e-3);
  EXPECT_NEAR(student_quantile(0.95, 2), 2.9200, 1e-4);
  EXPECT_NEAR(student_quantile(0.95, 10), 1.8125, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.7764, 1e-4);
  EXPECT_NEAR(student_quantile(0.95, 1e5), 1.6449, 1e-4);
}

TEST(Equivalence, IsWelchsInterval) {
  // Means 2 and 3, variances of the means 1/3 each, four degrees of freedom.
  const std::vector<double> a{1, 2, 3}, b{2, 3, 4};
  const Equivalence found = equivalence(a, b, 3);
  EXPECT_DOUBLE_EQ(found.mean_a, 2);
  EXPECT_DOUBLE_EQ(found.mean_b, 3);
  const double half = 2.13185 * std::sqrt(2.0 / 3);
  EXPECT_NEAR(found.low, -1 - half, 1e-4);
  EXPECT_NEAR(found.high, -1 + half, 1e-4);
  EXPECT_TRUE(found.holds);
  EXPECT_FALSE(equivalence(a, b, 2.5).holds) << "the margin lies inside the interval";
}

TEST(Equivalence, OfRunsThatAreAllTheSame) {
  const std::vector<double> a{2, 2}, b{2, 2, 2}, c{2.5, 2.5};
  EXPECT_TRUE(equivalence(a, b, 0.1).holds);
  EXPECT_FALSE(equivalence(a, c, 0.1).holds);
}

TEST(Equivalence, MeansThatAgreeByChanceDoNotSuffice) {
  const std::vector<double> a{0, 100}, b{50, 50};
  EXPECT_FALSE(equivalence(a, b, 10).holds) << "two runs that far apart say nothing";
}

TEST(EpochsTo, GoesAlongStraightLines) {
  EXPECT_DOUBLE_EQ(epochs_to(0.3, {1, {0.6, 0.4}}), 0.5);
  EXPECT_DOUBLE_EQ(epochs_to(0.65, {1, {0.6, 0.7}}), 1.5);
  EXPECT_EQ(epochs_to(0.7, {1, {0.6, 0.7}}), 2);
  EXPECT_EQ(epochs_to(0.9, {1, {0.6, 0.7}}), 3) << "never";
}

TEST(JudgeConvergence, OfAccuracyAndOfTheEpochsToIt) {
  const std::vector<LearntRun> theirs{{1, {0.80, 0.90}}, {2, {0.81, 0.91}}, {3, {0.79, 0.90}}};
  ConvergenceOptions options{.runs = 3, .margin = 0.02};
  EXPECT_TRUE(judge_convergence(theirs, theirs, options).passed);
  const std::vector<LearntRun> worse{{1, {0.80, 0.85}}, {2, {0.81, 0.86}}, {3, {0.79, 0.85}}};
  EXPECT_FALSE(judge_convergence(worse, theirs, options).passed);
  // As good in the end, but later.
  options.target_accuracy = 0.78;
  const std::vector<LearntRun> later{{1, {0.10, 0.70, 0.90}}, {2, {0.11, 0.71, 0.91}}, {3, {0.09, 0.70, 0.90}}};
  const Level level = judge_convergence(later, theirs, options);
  EXPECT_FALSE(level.passed) << level.summary;
  EXPECT_LE(level.rows[0].excess(), 1);
  EXPECT_GE(level.rows[1].excess(), 1);
}

}  // namespace
}  // namespace trireme::compare
