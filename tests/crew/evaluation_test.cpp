// Evaluation by a crew: the same numbers on any number of threads, and training does not notice it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "crew/crew.h"
#include "support/core_crew_run.h"
#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::crew {
namespace {

using support::CrewRun;
using support::Plain;

// Everything evaluate() reports and shows.
struct Seen {
  EvaluationReport report;
  std::vector<float> predictions;
};
Seen evaluate(const graph::Network& net, std::int64_t count, int threads, std::int64_t unit) {
  CrewOptions options{.batch = 4, .oars = 2, .threads = threads};
  options.evaluation_batch = unit;
  CrewRun run(net, options);
  run.step(4);
  const Plain inputs = support::input_values(net, std::max<std::int64_t>(count, 1), 5);
  const std::vector<float> target = support::target_values(net, std::max<std::int64_t>(count, 1), 5);
  Seen seen;
  const std::int64_t classes = net.nodes()[static_cast<std::size_t>(net.prediction())].shape.count();
  seen.predictions.assign(static_cast<std::size_t>(count * classes), std::nanf(""));
  const std::int64_t target_floats = net.nodes()[static_cast<std::size_t>(net.target())].shape.count();
  seen.report = run.crew().evaluate(
      count,
      [&](std::int64_t first, std::int64_t samples, std::span<float* const> to, float* labels) {
        for (std::size_t i = 0; i < to.size(); ++i) {
          const std::int64_t floats = net.nodes()[static_cast<std::size_t>(net.inputs()[i])].shape.count();
          std::copy_n(inputs[i].begin() + first * floats, samples * floats, to[i]);
        }
        std::copy_n(target.begin() + first * target_floats, samples * target_floats, labels);
      },
      [&](std::int64_t first, std::int64_t samples, const float* prediction) {
        std::copy_n(prediction, samples * classes, seen.predictions.begin() + first * classes);
      });
  return seen;
}

TEST(Crew, EvaluationDoesNotDependOnThreads) {
  for (const graph::Network& net : {support::small_residual(), support::two_inputs()})
    for (const std::int64_t count : {1, 7, 8, 30}) {
      const Seen one = evaluate(net, count, 1, 8);
      EXPECT_EQ(one.report.samples, count);
      for (const float p : one.predictions) ASSERT_FALSE(std::isnan(p)) << "a sample was not seen";
      for (const int threads : {2, 4}) {
        const Seen other = evaluate(net, count, threads, 8);
        EXPECT_EQ(other.report.loss, one.report.loss);
        EXPECT_EQ(other.report.correct, one.report.correct);
        EXPECT_EQ(other.predictions, one.predictions);
      }
    }
}

TEST(Crew, EvaluationIsTheReferenceInInference) {
  const graph::Network net = support::small_residual();
  const std::int64_t count = 11;
  CrewRun run(net, {.batch = 4, .oars = 2, .threads = 2});
  run.step(4);
  support::ReferenceBatch batch = support::reference_batch(net, count, 5);
  batch.training = false;
  const auto expected = run_reference(net, support::widen(run.weights()), batch);
  const Seen seen = evaluate(net, count, 2, 4);
  EXPECT_NEAR(seen.report.loss, expected.loss, 1e-4 * expected.loss);
  EXPECT_EQ(seen.report.correct, expected.correct);
}

TEST(Crew, EvaluatingNothing) {
  const Seen seen = evaluate(support::small_cnn(), 0, 2, 8);
  EXPECT_EQ(seen.report.samples, 0);
  EXPECT_EQ(seen.report.loss, 0);
}

TEST(Crew, EvaluationBetweenStepsChangesNothing) {
  const graph::Network net = support::small_residual();
  CrewOptions options{.batch = 4, .oars = 2, .threads = 2};
  options.evaluation_batch = 64;  // a larger arena than training's
  CrewRun quiet(net, options), examined(net, options);
  for (std::uint64_t step = 0; step < 3; ++step) {
    quiet.step(4, step);
    examined.step(4, step);
    examined.crew().evaluate(100, [](std::int64_t, std::int64_t samples, std::span<float* const> to, float* labels) {
      std::fill_n(to[0], samples * 3 * 8 * 8, 0.5f);
      std::fill_n(labels, samples, 0.0f);
    });
  }
  EXPECT_EQ(examined.hash(), quiet.hash());
}

// Whoever does not want the statistics of a step need not ask for them; after an evaluation they are gone.
TEST(Crew, EvaluationAfterAStepWhoseStatisticsNobodyTook) {
  CrewRun run(support::small_residual(), {.batch = 4, .oars = 2});
  run.compute_share(4, {{0, 2}}, [](const Chunk&, std::span<const float* const>) {});
  const auto report =
      run.crew().evaluate(3, [](std::int64_t, std::int64_t samples, std::span<float* const> to, float* labels) {
        std::fill_n(to[0], samples * 3 * 8 * 8, 0.5f);
        std::fill_n(labels, samples, 0.0f);
      });
  EXPECT_EQ(report.samples, 3);
  EXPECT_THROW((void)run.crew().statistics_sums(), base::Error);
}

}  // namespace
}  // namespace trireme::crew
