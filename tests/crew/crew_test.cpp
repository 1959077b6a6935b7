// Crew: the same bits for any number of threads, and the gradients, statistics and losses that mathematics asks for.
#include "crew/crew.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>

#include "support/core_crew_run.h"
#include "support/core_errors.h"
#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::crew {
namespace {

using support::CrewRun;
using support::Plain;

CrewOptions options_of(std::int64_t batch, int oars, int threads, Reduce reduce = Reduce::exact) {
  CrewOptions options;
  options.batch = batch;
  options.oars = oars;
  options.threads = threads;
  options.reduce = reduce;
  return options;
}

// Three steps of training, the last one shorter; the weights' hash and the losses.
struct Outcome {
  std::string hash;
  std::vector<double> losses;
  Plain gradients;
  bool operator==(const Outcome&) const = default;
};
Outcome train(const graph::Network& net, const CrewOptions& options, const std::vector<std::int64_t>& batches) {
  CrewRun run(net, options);
  Outcome outcome;
  std::uint64_t stream = 0;
  for (const std::int64_t samples : batches) {
    const ComputeReport report = run.step(samples, stream++);
    outcome.losses.push_back(report.loss);
    outcome.losses.push_back(report.correct);
  }
  outcome.gradients = run.gradients();
  outcome.hash = run.hash();
  return outcome;
}

TEST(Crew, SameBitsForAnyNumberOfThreads) {
  for (const graph::Network& net : {support::small_residual(), support::dropout_cnn(), support::two_inputs()})
    for (const auto& [batch, oars] :
         std::vector<std::pair<std::int64_t, int>>{{13, 5}, {8, 8}, {16, 4}, {7, 3}, {3, 1}}) {
      const std::vector<std::int64_t> batches{batch, batch, std::max<std::int64_t>(batch / 3, 1), 1};
      const Outcome one = train(net, options_of(batch, oars, 1), batches);
      for (const int threads : {2, 3, 4}) {
        const Outcome other = train(net, options_of(batch, oars, threads), batches);
        EXPECT_EQ(other.hash, one.hash) << net.name() << " " << batch << "/" << oars << " on " << threads;
        EXPECT_EQ(other.losses, one.losses);
        EXPECT_EQ(other.gradients, one.gradients);
      }
    }
}

TEST(Crew, SameBitsWhereverTheWeightsLie) {
  for (const graph::Network& net : support::small_networks()) {
    const CrewOptions options = options_of(13, 5, 2);
    CrewRun still(net, options), moves(net, options);
    tensor::Buffer elsewhere(static_cast<std::size_t>(moves.crew().space().floats()) * sizeof(float));
    for (std::uint64_t stream = 0; stream < 4; ++stream) {
      if (stream == 2) moves.crew().move_weights(elsewhere.floats());
      still.step(13, stream);
      moves.step(13, stream);
      EXPECT_EQ(moves.hash(), still.hash()) << net.name();
    }
    EXPECT_EQ(moves.crew().weights(), elsewhere.floats());
    // Two crews, one place.
    still.crew().share_weights(elsewhere.floats());
    moves.step(13, 4);
    still.crew().refresh_weight_forms();
    EXPECT_EQ(still.hash(), moves.hash()) << net.name();
    EXPECT_EQ(still.compute(13, 5).loss, moves.compute(13, 5).loss);
  }
}

// The first sum is made where one wants to have it, wherever that is possible, and the others are not disturbed by it.
TEST(Crew, MakesTheGradientInMemoryThatItIsGiven) {
  for (const graph::Network& net : support::small_networks())
    for (const OarSchedule schedule : {OarSchedule::oar_by_oar, OarSchedule::layer_by_layer})
      for (const int threads : {1, 3})
        for (const base::Range oars : {base::Range{0, 5}, base::Range{1, 4}, base::Range{2, 3}}) {
          SCOPED_TRACE(fmt::format("{}, {} threads, oars {} to {}", net.name(), threads, oars.begin, oars.end));
          CrewOptions options = options_of(13, 5, threads);
          options.schedule = schedule;
          CrewRun run(net, options);
          const auto floats = static_cast<std::size_t>(run.crew().space().trained_floats());
          std::mutex mutex;
          std::size_t placed = 0;
          const auto rows = [&](const float* memory) {
            std::vector<std::vector<float>> all(run.crew().partials(13, {oars}).size(), std::vector<float>(floats));
            run.compute_share(13, {oars}, [&](const Chunk& chunk, std::span<const float* const> sums) {
              const std::lock_guard lock(mutex);
              if (sums[0] == memory + chunk.offset) placed += static_cast<std::size_t>(chunk.count);
              for (std::size_t p = 0; p < sums.size(); ++p)
                std::copy_n(sums[p], chunk.count, all[p].begin() + chunk.offset);
            });
            return all;
          };
          const auto expected = rows(nullptr);
          tensor::Buffer memory(floats * sizeof(float));
          run.crew().place_gradient(memory.floats());
          EXPECT_EQ(rows(memory.floats()), expected);
          // One oar of three threads may be any thread's.
          if (oars.size() >= threads) {
            EXPECT_EQ(placed > 0, schedule == OarSchedule::layer_by_layer);
          }
          placed = 0;
          run.crew().place_gradient(nullptr);
          EXPECT_EQ(rows(memory.floats()), expected);
          EXPECT_EQ(placed, 0u);
        }
}

// Weights that come when they are asked for, parameter by parameter, are there in time.
TEST(Crew, AsksForWeightsBeforeTheyAreRead) {
  for (const graph::Network& net : support::small_networks())
    for (const OarSchedule schedule : {OarSchedule::oar_by_oar, OarSchedule::layer_by_layer})
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(net.name() + ", " + std::to_string(threads) + " threads");
        CrewOptions options = options_of(13, 5, threads);
        options.schedule = schedule;
        CrewRun run(net, options);
        Crew& crew = run.crew();
        const auto& space = crew.space();
        std::vector<float> expected(static_cast<std::size_t>(space.floats())), got = expected;
        const auto take_into = [](std::vector<float>& all) {
          return [&all](const Chunk& chunk, std::span<const float* const> sums) {
            std::copy_n(sums[0], chunk.count, all.begin() + chunk.offset);
          };
        };
        const ComputeReport before = run.compute_share(13, {{0, 5}}, take_into(expected));
        const std::vector<float> weights(crew.weights(), crew.weights() + space.floats());
        std::fill_n(crew.weights(), space.trained_floats(), std::numeric_limits<float>::quiet_NaN());
        crew.refresh_weight_forms();
        std::mutex mutex;
        const ComputeReport after =
            crew.compute(run.view(), {}, {{0, 5}}, take_into(got), [&](std::span<const int> parameters) {
              const std::lock_guard lock(mutex);
              for (const int p : parameters) {
                const auto& range = space.range(p);
                if (!std::isnan(crew.weights()[range.offset])) continue;
                std::copy_n(weights.begin() + range.offset, range.floats(), crew.weights() + range.offset);
                crew.refresh_weight_forms(p);
              }
            });
        EXPECT_EQ(after.loss, before.loss);
        EXPECT_EQ(got, expected);
        EXPECT_GE(after.waited_seconds, 0);
      }
}

// Kept whole or taken layer by layer, computed oar by oar or layer by layer: the same additions.
TEST(Crew, SameBitsHoweverTheGradientIsTaken) {
  for (const graph::Network& net : {support::small_residual(), support::dropout_cnn(), support::two_inputs()})
    for (const auto& [batch, oars] : std::vector<std::pair<std::int64_t, int>>{{13, 5}, {16, 8}, {9, 9}}) {
      const std::vector<std::int64_t> batches{batch, batch, 4, 1, batch};
      const std::string expected = train(net, options_of(batch, oars, 1), batches).hash;
      for (const OarSchedule schedule : {OarSchedule::oar_by_oar, OarSchedule::layer_by_layer})
        for (const int threads : {1, 2, 3, 8}) {
          SCOPED_TRACE(net.name() + " " + std::to_string(oars) + " oars, " + std::to_string(threads) + " threads");
          CrewOptions options = options_of(batch, oars, threads);
          options.schedule = schedule;
          CrewRun run(net, options);
          for (std::size_t s = 0; s < batches.size(); ++s) run.step_passing(batches[s], s);
          EXPECT_EQ(run.hash(), expected);
          EXPECT_EQ(train(net, options, batches).hash, expected) << "kept";
        }
    }
}

// The gradients of large dense layers are made by any thread when all oars have passed; by each oar by itself where
// several share an arena. Also with clipping's norm, and on batches with empty oars.
TEST(Crew, SameBitsOfLateGradients) {
  const graph::Network net = support::wide_mlp();
  const std::vector<std::int64_t> batches{11, 11, 4, 11};
  for (const int oars : {1, 2, 5, 6, 11}) {
    CrewOptions options = options_of(11, oars, 1);
    options.schedule = OarSchedule::oar_by_oar;
    const Outcome one = train(net, options, batches);
    for (const OarSchedule schedule : {OarSchedule::oar_by_oar, OarSchedule::layer_by_layer})
      for (const int threads : {1, 2, 5, 8}) {
        SCOPED_TRACE(std::to_string(oars) + " oars, " + std::to_string(threads) + " threads");
        options.threads = threads;
        options.schedule = schedule;
        EXPECT_EQ(train(net, options, batches), one);
        CrewRun run(net, options);
        for (std::size_t s = 0; s < batches.size(); ++s) run.step_passing(batches[s], s);
        EXPECT_EQ(run.hash(), one.hash);
      }
  }
}

TEST(Crew, LateGradientsAreNowhereKept) {
  const graph::Network net = support::wide_mlp();
  CrewOptions options = options_of(12, 4, 4);
  CrewRun late(net, options);
  options.threads = 1;
  options.schedule = OarSchedule::oar_by_oar;
  CrewRun kept(net, options);
  EXPECT_LT(late.crew().gradient_bytes(), kept.crew().gradient_bytes() / 20);
}

TEST(Crew, SameBitsInEveryRun) {
  const Outcome one = train(support::dense_block(), options_of(9, 4, 3), {9, 5, 9});
  for (int round = 0; round < 5; ++round)
    EXPECT_EQ(train(support::dense_block(), options_of(9, 4, 3), {9, 5, 9}).hash, one.hash);
}

TEST(Crew, MoreThreadsThanOars) {
  EXPECT_EQ(train(support::small_cnn(), options_of(6, 2, 5), {6, 1}).hash,
            train(support::small_cnn(), options_of(6, 2, 1), {6, 1}).hash);
}

TEST(Crew, TheNumberOfOarsIsPartOfTheExperiment) {
  EXPECT_NE(train(support::small_residual(), options_of(8, 2, 1), {8}).hash,
            train(support::small_residual(), options_of(8, 4, 1), {8}).hash);
}

// Loss and gradient of a batch, oar by oar in double.
support::ReferenceResult reference_of(const graph::Network& net, const Plain& parameters, std::int64_t samples,
                                      int oars, std::uint64_t stream) {
  const support::ReferenceBatch batch = support::reference_batch(net, samples, stream);
  support::ReferenceResult total;
  for (int oar = 0; oar < oars; ++oar) {
    const base::Range range = base::oar_samples(oar, oars, samples);
    if (range.empty()) continue;
    const auto part = run_reference(net, support::widen(parameters), support::part_of(net, batch, range));
    total.loss += part.loss;
    total.correct += part.correct;
    if (total.gradients.empty()) {
      total.gradients = part.gradients;
      continue;
    }
    for (std::size_t p = 0; p < part.gradients.size(); ++p)
      for (std::size_t i = 0; i < part.gradients[p].size(); ++i) total.gradients[p][i] += part.gradients[p][i];
  }
  return total;
}

TEST(Crew, GradientsAreThoseOfTheReference) {
  for (const graph::Network& net : support::small_networks())
    for (const auto& [samples, oars] : std::vector<std::pair<std::int64_t, int>>{{8, 2}, {7, 3}, {2, 3}}) {
      SCOPED_TRACE(net.name() + " " + std::to_string(samples) + "/" + std::to_string(oars));
      CrewRun run(net, options_of(8, oars, 2));
      const auto expected = reference_of(net, run.weights(), samples, oars, 0);
      const ComputeReport report = run.compute(samples);
      run.update(0);
      EXPECT_NEAR(report.loss, expected.loss, 1e-5 * std::abs(expected.loss) + 1e-6);
      EXPECT_NEAR(report.correct, expected.correct, 1e-9);
      const Plain gradients = run.gradients();
      for (std::size_t p = 0; p < gradients.size(); ++p) {
        if (net.parameters()[p].name.starts_with("lost") || net.parameters()[p].spec.is_statistic()) continue;
        const std::vector<std::vector<double>> truth{expected.gradients[p]};
        EXPECT_LT(support::largest_distance(Plain{gradients[p]}, truth), 3e-4) << net.parameters()[p].name;
      }
    }
}

TEST(Crew, WithoutBatchNormOarsMakeNoDifferenceButRounding) {
  for (const graph::Network& net : {support::mlp(), support::small_cnn(), support::tangle(), support::two_inputs()})
    for (const std::int64_t samples : {13, 4, 1}) {
      CrewRun whole(net, options_of(13, 1, 1)), cut(net, options_of(13, 5, 2));
      const double loss = whole.compute(samples).loss;
      EXPECT_NEAR(cut.compute(samples).loss, loss, 1e-5 * std::abs(loss));
      whole.update(0);
      cut.update(0);
      EXPECT_LT(support::largest_distance(cut.gradients(), whole.gradients()), 2e-5) << net.name() << " " << samples;
    }
}

// What three crews make of their shares, added along the tree, is what one crew makes of the whole batch; their shares
// change from step to step, and some have no samples.
TEST(Crew, SharesTogetherHaveTheBitsOfTheWhole) {
  constexpr int kOars = 7;
  const std::vector<std::vector<base::Range>> assignments{
      {{0, 2}, {2, 5}, {5, 7}}, {{0, 1}, {1, 7}, {7, 7}}, {{0, 3}, {3, 4}, {4, 7}}};
  for (const graph::Network& net : support::small_networks())
    for (const int threads : {1, 2}) {
      SCOPED_TRACE(net.name());
      CrewRun whole(net, options_of(21, kOars, 2));
      std::vector<std::unique_ptr<CrewRun>> crews;
      for (int i = 0; i < 3; ++i) crews.push_back(std::make_unique<CrewRun>(net, options_of(21, kOars, threads)));
      const auto floats = static_cast<std::size_t>(whole.crew().space().floats());
      for (const auto& held : assignments)
        for (const std::int64_t samples : {21, 4}) {
          const double loss = whole.compute(samples).loss;
          whole.crew().for_each_chunk([](const Chunk&, const float*) {});
          std::vector<std::pair<base::Range, std::vector<float>>> partials;
          double loss_of_shares = 0;
          for (std::size_t i = 0; i < crews.size(); ++i) {
            const Share share{held[i]};
            const auto ranges = crews[i]->crew().partials(samples, share);
            const std::size_t first = partials.size();
            for (const base::Range& range : ranges) partials.emplace_back(range, std::vector<float>(floats));
            loss_of_shares += crews[i]
                                  ->compute_share(samples, share,
                                                  [&](const Chunk& chunk, std::span<const float* const> sums) {
                                                    ASSERT_EQ(sums.size(), ranges.size());
                                                    for (std::size_t p = 0; p < sums.size(); ++p)
                                                      std::copy_n(sums[p], chunk.count,
                                                                  partials[first + p].second.data() + chunk.offset);
                                                  })
                                  .loss;
            const auto statistics = crews[i]->crew().statistics_sums();
            const auto trained = static_cast<std::size_t>(whole.crew().space().trained_floats());
            for (std::size_t p = 0; p < statistics.size(); ++p)
              std::copy_n(statistics[p], floats - trained, partials[first + p].second.data() + trained);
          }
          EXPECT_NEAR(loss_of_shares, loss, 1e-9 * std::abs(loss));
          const std::function<std::vector<float>(base::Range)> sum = [&](base::Range node) {
            for (const auto& [range, values] : partials)
              if (range == node) return values;
            if (node.size() == 1) return std::vector<float>{};
            const std::int64_t middle = node.begin + base::oar_split(static_cast<int>(node.size()));
            std::vector<float> left = sum({node.begin, middle});
            const std::vector<float> right = sum({middle, node.end});
            if (left.empty() || right.empty()) return left.empty() ? right : left;
            for (std::size_t f = 0; f < floats; ++f) left[f] += right[f];
            return left;
          };
          whole.crew().finish_step();
          const std::vector<float> total = sum({0, kOars});
          EXPECT_EQ(std::memcmp(total.data(), whole.crew().gradient(), floats * sizeof(float)), 0) << samples;
          whole.set_parameters(support::parameter_values(whole.net()));
        }
    }
}

TEST(Crew, AShareAloneIsTheMeanOverItself) {
  const graph::Network net = support::small_cnn();
  CrewRun crew(net, options_of(16, 8, 1));
  std::vector<float> alone(static_cast<std::size_t>(crew.crew().space().floats())), part(alone.size());
  const auto into = [](std::vector<float>& to) {
    return [&to](const Chunk& chunk, std::span<const float* const> sums) {
      ASSERT_EQ(sums.size(), 1u);
      std::copy_n(sums[0], chunk.count, to.data() + chunk.offset);
    };
  };
  const double loss = crew.compute_share(16, {{4, 8}, true}, into(alone)).loss;
  crew.crew().statistics_sums();
  EXPECT_EQ(crew.compute_share(16, {{4, 8}}, into(part)).loss, loss);
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i], 2 * part[i]) << i;  // half of the batch
}

// Two halves of a share, each for itself, make the share's mean when they are added.
TEST(Crew, AMeanMayBeOverMoreOarsThanAreComputed) {
  const graph::Network net = support::small_cnn();
  CrewRun crew(net, options_of(16, 8, 2));
  const auto floats = static_cast<std::size_t>(crew.crew().space().floats());
  std::vector<float> whole(floats), parts(floats);
  const auto compute = [&](const Share& share, std::vector<float>& to) {
    EXPECT_EQ(crew.crew().partials(16, share), std::vector{share.oars});
    crew.compute_share(16, share, [&](const Chunk& chunk, std::span<const float* const> sums) {
      ASSERT_EQ(sums.size(), 1u);
      for (std::int64_t i = 0; i < chunk.count; ++i) to[static_cast<std::size_t>(chunk.offset + i)] += sums[0][i];
    });
    crew.crew().statistics_sums();
  };
  compute({{3, 7}, true}, whole);  // which no subtree of the batch is
  compute({{3, 5}, false, {3, 7}}, parts);
  compute({{5, 7}, false, {3, 7}}, parts);
  EXPECT_EQ(whole, parts);
}

TEST(Crew, FastIsCloseToExact) {
  for (const graph::Network& net : {support::small_residual(), support::small_cnn()}) {
    CrewRun exact(net, options_of(24, 8, 3)), fast(net, options_of(24, 8, 3, Reduce::fast));
    for (const std::int64_t samples : {24, 5}) {
      const double loss = exact.compute(samples).loss;
      EXPECT_NEAR(fast.compute(samples).loss, loss, 1e-6 * std::abs(loss));
      exact.update(0);
      fast.update(0);
      EXPECT_LT(support::largest_distance(fast.gradients(), exact.gradients()), 1e-5);
      exact.crew().finish_step();
      fast.crew().finish_step();
    }
    EXPECT_LT(support::largest_distance(fast.weights(), exact.weights()), 1e-6);
  }
}

// running = (1 - m) running + m * (sum over oars of samples * statistic) / samples, the variance unbiased per oar.
TEST(Crew, RunningStatisticsMoveByTheFormula) {
  for (const auto& [batch, oars] : std::vector<std::pair<std::int64_t, int>>{{8, 2}, {7, 3}, {5, 1}, {2, 3}}) {
    graph::Network net("norm");
    graph::Value x = net.input("x", {3, 2, 2});
    x = net.add("bn", ops::batch_norm({.momentum = 0.3}), {x});
    support::classify(net, x);
    CrewRun run(net, options_of(std::max<std::int64_t>(batch, oars), oars, 2));
    auto expected = support::widen(run.weights());
    for (std::uint64_t step = 0; step < 3; ++step) {
      const auto inputs = support::input_values(net, batch, step)[0];
      for (std::size_t c = 0; c < 3; ++c) {
        double mean_sum = 0, variance_sum = 0;
        for (int oar = 0; oar < oars; ++oar) {
          const base::Range range = base::oar_samples(oar, oars, batch);
          if (range.empty()) continue;
          std::vector<double> values;
          for (std::int64_t n = range.begin; n < range.end; ++n)
            for (std::size_t s = 0; s < 4; ++s)
              values.push_back(static_cast<double>(inputs[static_cast<std::size_t>(n) * 12 + c * 4 + s]));
          const double count = static_cast<double>(values.size());
          const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
          double squares = 0;
          for (const double v : values) squares += (v - mean) * (v - mean);
          mean_sum += static_cast<double>(range.size()) * mean;
          variance_sum += static_cast<double>(range.size()) * squares / (count - 1);
        }
        const double samples = static_cast<double>(batch);
        expected[2][c] = 0.7 * expected[2][c] + 0.3 * mean_sum / samples;
        expected[3][c] = 0.7 * expected[3][c] + 0.3 * variance_sum / samples;
      }
      run.compute(batch, step);
      run.update();
      run.crew().finish_step();
    }
    const Plain weights = run.weights();
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(weights[2][c], expected[2][c], 1e-6) << batch << "/" << oars;
      EXPECT_NEAR(weights[3][c], expected[3][c], 1e-6) << batch << "/" << oars;
    }
  }
}

TEST(Crew, StatisticsOfABranchThatLeadsNowhereStay) {
  CrewRun run(support::two_inputs(), options_of(4, 2, 1));
  const Plain before = run.weights();
  run.step(4);
  const Plain after = run.weights();
  for (std::size_t p = 0; p < before.size(); ++p) {
    if (run.net().parameters()[p].name.starts_with("lost")) {
      EXPECT_EQ(after[p], before[p]) << run.net().parameters()[p].name;
    }
  }
}

TEST(Crew, DerivedWeightsFollowTheUpdate) {
  // After a step, a crew and a fresh one with the same weights compute the same.
  CrewRun trained(support::small_residual(), options_of(8, 2, 2)),
      fresh(support::small_residual(), options_of(8, 2, 2));
  trained.step(8);
  fresh.set_parameters(trained.weights());
  trained.step(8, 1);
  fresh.step(8, 1);
  EXPECT_EQ(trained.hash(), fresh.hash());
}

TEST(Crew, PaddingOfWeightsStaysZero) {
  CrewRun run(support::small_cnn(), options_of(6, 3, 2));
  for (std::uint64_t step = 0; step < 3; ++step) run.step(6, step);
  for (const tensor::ParameterRange& range : run.crew().space().ranges()) {
    std::vector<float> plain(static_cast<std::size_t>(range.count()));
    std::vector<float> again(static_cast<std::size_t>(range.floats()));
    const float* live = run.crew().weights() + range.offset;
    tensor::to_plain(range.layout, live, plain.data());
    tensor::from_plain(range.layout, plain.data(), again.data());
    EXPECT_TRUE(std::equal(again.begin(), again.end(), live)) << range.name;
  }
}

TEST(Crew, ChunksCoverTheTrainedParametersOnce) {
  CrewRun run(support::resnet20(), options_of(4, 2, 3));
  const tensor::ParameterSpace& space = run.crew().space();
  std::vector<int> seen(static_cast<std::size_t>(space.floats()), 0);
  run.compute(4);
  std::mutex mutex;
  run.crew().for_each_chunk([&](const Chunk& chunk, const float* gradient) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(gradient, run.crew().gradient() + chunk.offset);
    const tensor::ParameterRange& range = space.range(chunk.parameter);
    EXPECT_TRUE(chunk.offset >= range.offset && chunk.offset + chunk.count <= range.offset + range.floats());
    for (std::int64_t i = 0; i < chunk.count; ++i) ++seen[static_cast<std::size_t>(chunk.offset + i)];
  });
  for (const tensor::ParameterRange& range : space.ranges())
    for (std::int64_t i = 0; i < range.floats(); ++i)
      ASSERT_EQ(seen[static_cast<std::size_t>(range.offset + i)], range.kind == tensor::ParameterKind::trained ? 1 : 0);
}

TEST(Crew, EveryChunkIsTakenOnce) {
  for (const graph::Network& net : {support::resnet20(), support::two_inputs()})
    for (const int threads : {1, 3}) {
      CrewRun run(net, options_of(4, 4, threads));
      std::vector<int> taken(run.crew().chunks().size(), 0);
      std::mutex mutex;
      run.load(4);
      run.compute_loaded([&](const Chunk& chunk, const float*) {
        const std::lock_guard lock(mutex);
        ++taken[static_cast<std::size_t>(chunk.index)];
      });
      EXPECT_EQ(taken, std::vector<int>(taken.size(), 1)) << net.name() << " on " << threads;
    }
}

TEST(Crew, AFailureOfTheTakerReachesTheCaller) {
  for (const int threads : {1, 3}) {
    CrewRun run(support::small_cnn(), options_of(6, 3, threads));
    run.load(6);
    const std::string text = support::sentence(base::ErrorKind::run, [&] {
      run.compute_loaded([](const Chunk&, const float*) { base::run_error("no more room"); });
    });
    EXPECT_TRUE(support::contains(text, "no more room")) << text;
    EXPECT_TRUE(std::isfinite(run.step(6).loss)) << "the crew goes on";
  }
}

TEST(Crew, ASecondPassOverTheChunksSeesTheSameGradient) {
  CrewRun run(support::small_cnn(), options_of(8, 4, 3));
  run.compute(8);
  run.update(0);
  const Plain first = run.gradients();
  run.update(0);
  EXPECT_EQ(run.gradients(), first) << "added twice";
}

// Not every kernel hands a NaN on (a folded ReLU and a maximum may take the other number); batch norm does.
TEST(Crew, NotANumberDoesNotHang) {
  for (const graph::Network& net : {support::small_residual(), support::small_cnn(), support::series()}) {
    CrewRun run(net, options_of(6, 3, 3));
    run.load(6);
    run.spoil_input(std::numeric_limits<float>::quiet_NaN());
    const double loss = run.compute_loaded().loss;
    run.update();
    run.crew().finish_step();
    if (net.name() == "small-residual") {
      EXPECT_TRUE(std::isnan(loss));
    }
    run.set_parameters(support::parameter_values(net));
    EXPECT_TRUE(std::isfinite(run.step(6).loss)) << net.name() << ": a NaN stays in the arena";
    for (const auto& values : run.weights())
      for (const float value : values) ASSERT_TRUE(std::isfinite(value)) << net.name() << ": a NaN stays in a slot";
  }
}

TEST(Crew, AFailureOfAMemberReachesTheCaller) {
  CrewRun run(support::small_cnn(), options_of(6, 3, 3));
  const std::vector<float> labels(6, 99.0f);
  BatchView view;
  const Plain inputs = support::input_values(run.net(), 6);
  const std::vector<std::int64_t> indices{40, 41, 42, 43, 44, 45};
  view.samples = 6;
  view.inputs = {inputs[0].data()};
  view.target = labels.data();
  view.indices = indices;
  const std::string text = support::sentence(base::ErrorKind::run, [&] { run.crew().compute(view, {}); });
  EXPECT_TRUE(support::contains(text, "99")) << text;
  EXPECT_TRUE(std::isfinite(run.step(6).loss)) << "the crew goes on";
  EXPECT_TRUE(std::isfinite(run.step_passing(6).loss)) << "the crew goes on";
}

TEST(Crew, WrongUse) {
  support::sentence(base::ErrorKind::user, [] { Crew(support::mlp(), options_of(3, 4, 1)); });
  CrewRun run(support::mlp(), options_of(4, 2, 1));
  support::sentence(base::ErrorKind::internal, [&] { run.update(); });
  support::sentence(base::ErrorKind::internal, [&] { run.crew().finish_step(); });
  support::sentence(base::ErrorKind::internal, [&] { run.compute(5); });
  run.compute(4);
  run.crew().finish_step();
  support::sentence(base::ErrorKind::internal, [&] { run.crew().finish_step(); });
  run.step_passing(4);
  support::sentence(base::ErrorKind::internal, [&] { run.update(); });
}

TEST(Crew, OarSizes) {
  CrewRun run(support::mlp(), options_of(7, 3, 1));
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(run.crew().oar_sizes(7), (Sizes{3, 2}));
  EXPECT_EQ(run.crew().oar_sizes(6), Sizes{2});
  EXPECT_EQ(run.crew().oar_sizes(4), (Sizes{2, 1}));
  EXPECT_EQ(run.crew().oar_sizes(2), Sizes{1});
}

TEST(Crew, ThreadsInsideAnOarChangeRoundingOnly) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not understand OpenMP's barriers";
#endif
  CrewOptions options = options_of(8, 2, 1);
  CrewRun one(support::small_residual(), options);
  options.threads_per_oar = 2;
  CrewRun two(support::small_residual(), options);
  const double loss = one.compute(8).loss;
  EXPECT_NEAR(two.compute(8).loss, loss, 1e-5 * loss);
  one.update(0);
  two.update(0);
  EXPECT_LT(support::largest_distance(two.gradients(), one.gradients()), 1e-4);
}

TEST(Crew, KnowsItsMemoryAndOarSizes) {
  CrewRun run(support::resnet20(), options_of(8, 4, 2));
  EXPECT_GT(run.crew().arena_bytes(), 0u);
  EXPECT_GT(run.crew().gradient_bytes(), 0u);
  EXPECT_EQ(run.crew().oar_sizes(8), std::vector<std::int64_t>{2});
}

}  // namespace
}  // namespace trireme::crew
