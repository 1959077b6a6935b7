#include "data/readers/synthetic.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "data/helpers.h"
#include "data/open_data.h"
#include "data/readers/synthetic_noise.h"

namespace trireme::data {
namespace {

using Shapes = std::vector<tensor::Shape>;

DataPair open(Shapes inputs, std::int64_t classes, std::int64_t train, std::int64_t test,
              TargetKind target = TargetKind::classes) {
  DataRequest request;
  request.name = "synthetic";
  request.seed = 3;
  request.train_samples = train;
  request.test_samples = test;
  request.wanted_inputs = std::move(inputs);
  request.wanted_classes = classes;
  request.wanted_target = target;
  return open_dataset(request);
}

// The share of test samples whose nearest class mean of the training samples (over the given inputs) is their own.
double nearest_mean_accuracy(const DataPair& pair, std::size_t input) {
  const DataSpec& spec = pair.train->spec();
  const auto count = static_cast<std::size_t>(spec.inputs[input].count());
  std::vector<std::vector<float>> means(static_cast<std::size_t>(spec.classes), std::vector<float>(count));
  std::vector<float> samples(means.size());
  for (std::int64_t i = 0; i < pair.train->size(); ++i) {
    const Sample sample = fetch_sample(*pair.train, i);
    const auto label = static_cast<std::size_t>(sample.target[0]);
    for (std::size_t k = 0; k < count; ++k) means[label][k] += sample.inputs[input][k];
    ++samples[label];
  }
  for (std::size_t c = 0; c < means.size(); ++c)
    for (float& v : means[c]) v /= samples[c];
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < pair.test->size(); ++i) {
    const Sample sample = fetch_sample(*pair.test, i);
    float best = std::numeric_limits<float>::max();
    std::size_t chosen = 0;
    for (std::size_t c = 0; c < means.size(); ++c) {
      float distance = 0;
      for (std::size_t k = 0; k < count; ++k) {
        const float d = sample.inputs[input][k] - means[c][k];
        distance += d * d;
      }
      if (distance < best) {
        best = distance;
        chosen = c;
      }
    }
    right += chosen == static_cast<std::size_t>(sample.target[0]);
  }
  return static_cast<double>(right) / static_cast<double>(pair.test->size());
}

TEST(Synthetic, ImagesCanBeLearned) {
  EXPECT_GT(nearest_mean_accuracy(open({{3, 32, 32}}, 10, 500, 200), 0), 0.9);
  EXPECT_GT(nearest_mean_accuracy(open({{1, 28, 28}}, 100, 2000, 300), 0), 0.9);
}

TEST(Synthetic, EveryInputCarriesTheClass) {
  const DataPair pair = open({{4, 64, 64}, {2, 64, 64}, {1, 64, 64}}, 10, 200, 100);
  for (std::size_t input = 0; input < 3; ++input) EXPECT_GT(nearest_mean_accuracy(pair, input), 0.9) << input;
}

TEST(Synthetic, SpectraCanBeLearned) {
  EXPECT_GT(nearest_mean_accuracy(open({{1, 1800}}, 800, 4000, 400), 0), 0.9);
  EXPECT_GT(nearest_mean_accuracy(open({{2, 101}}, 7, 200, 100), 0), 0.9);
}

// A bin is a shift: at 1800 pixels and 800 bins, class b is class 0 moved by b pixels.
TEST(Synthetic, ASpectrumsClassIsAShift) {
  const DataPair pair = open({{1, 1800}}, 800, 800 * 30, 1);
  const auto mean_of = [&](std::int64_t label) {
    std::vector<double> mean(1800);
    for (std::int64_t i = 0; i < 30; ++i) {
      const Sample sample = fetch_sample(*pair.train, label + 800 * i);
      for (std::size_t x = 0; x < 1800; ++x) mean[x] += sample.inputs[0][x] / 30.0;
    }
    return mean;
  };
  const auto zero = mean_of(0), far = mean_of(300);
  double unlike = 0;
  for (std::size_t x = 0; x < 1000; ++x) {
    EXPECT_NEAR(zero[x], far[x + 300], 0.35) << x;  // strength, slope and noise differ, the pattern does not
    unlike = std::max(unlike, std::abs(zero[x] - far[x]));
  }
  EXPECT_GT(unlike, 0.6);
}

TEST(Synthetic, IsAPureFunctionOfSeedSetAndIndex) {
  for (const Shapes& shapes : {Shapes{{3, 8, 8}}, Shapes{{1, 100}}}) {
    const DataPair pair = open(shapes, 4, 50, 50), again = open(shapes, 4, 80, 80);
    const Sample sample = fetch_sample(*pair.train, 5);
    EXPECT_EQ(sample.inputs, fetch_sample(*again.train, 5, {9, 9}).inputs);
    EXPECT_NE(sample.inputs, fetch_sample(*pair.test, 5).inputs);
    EXPECT_NE(sample.inputs, fetch_sample(*pair.train, 9).inputs);
    Sample there;
    std::thread([&] { there = fetch_sample(*pair.train, 5); }).join();
    EXPECT_EQ(sample.inputs, there.inputs);
    DataSpec spec = pair.train->spec();
    EXPECT_NE(sample.inputs, fetch_sample(*make_synthetic(spec, 50, 4, false), 5).inputs);
  }
}

// Solves the normal equations (A^T A + small I) w = A^T y by elimination, for the tests below.
std::vector<double> least_squares(std::vector<std::vector<double>> rows, const std::vector<double>& y) {
  const std::size_t n = rows[0].size();
  std::vector<std::vector<double>> m(n, std::vector<double>(n + 1));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) m[i][j] += rows[r][i] * rows[r][j];
      m[i][n] += rows[r][i] * y[r];
    }
  for (std::size_t i = 0; i < n; ++i) m[i][i] += 1e-3;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = m[r][i] / m[i][i];
      for (std::size_t j = i; j <= n; ++j) m[r][j] -= factor * m[i][j];
    }
  std::vector<double> w(n);
  for (std::size_t i = 0; i < n; ++i) w[i] = m[i][n] / m[i][i];
  return w;
}

// Mean of each 2x2 block of a 1x8x8 image, and a constant: 17 features.
std::vector<double> block_features(const Sample& sample) {
  std::vector<double> features(17, 0.0);
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 8; ++x) features[y / 2 * 4 + x / 2] += sample.inputs[0][y * 8 + x] / 4.0;
  features[16] = 1;
  return features;
}

TEST(Synthetic, ValuesAndLabelsCanBeLearnedByALinearRule) {
  for (const TargetKind kind : {TargetKind::values, TargetKind::labels}) {
    const DataPair pair = open({{1, 8, 8}}, 3, 600, 200, kind);
    ASSERT_EQ(target_floats(pair.train->spec()), 3);
    for (std::size_t t = 0; t < 3; ++t) {
      std::vector<std::vector<double>> rows;
      std::vector<double> y;
      for (std::int64_t i = 0; i < 600; ++i) {
        const Sample sample = fetch_sample(*pair.train, i);
        rows.push_back(block_features(sample));
        y.push_back(sample.target[t]);
      }
      const std::vector<double> w = least_squares(rows, y);
      double error = 0, square = 0, sum = 0;
      int right = 0;
      for (std::int64_t i = 0; i < 200; ++i) {
        const Sample sample = fetch_sample(*pair.test, i);
        const std::vector<double> f = block_features(sample);
        const double guess = std::inner_product(f.begin(), f.end(), w.begin(), 0.0), truth = sample.target[t];
        error += (guess - truth) * (guess - truth);
        square += truth * truth;
        sum += truth;
        right += (guess > 0.5) == (truth > 0.5);
        EXPECT_TRUE(kind == TargetKind::values || truth == 0 || truth == 1);
      }
      const double variance = square - sum * sum / 200;
      if (kind == TargetKind::values) {
        EXPECT_LT(error, 0.5 * variance) << t;
      } else {
        EXPECT_GT(right, 160) << t;
      }
    }
  }
}

TEST(Synthetic, NoiseHasTheDeviationAskedFor) {
  std::vector<float> values(200'001);
  add_noise(values.data(), static_cast<std::int64_t>(values.size()), base::CounterRng(1, base::Purpose::synthetic), 0,
            2.0f);
  double sum = 0, square = 0;
  for (const float v : values) {
    sum += v;
    square += v * v;
  }
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0, 5 * 2 / std::sqrt(n));
  EXPECT_NEAR(square / n, 4, 0.08);
  EXPECT_NE(values.back(), 0.0f);
}

TEST(Synthetic, OddShapesAndDefaults) {
  for (const Shapes& shapes :
       {Shapes{{1}}, Shapes{{5}}, Shapes{{1, 1, 1}}, Shapes{{3, 1, 2}}, Shapes{{2, 3, 4, 5}}, Shapes{{1, 63}}}) {
    const DataPair pair = open(shapes, 2, 3, 1);
    for (std::int64_t i = 0; i < 3; ++i) {
      const Sample sample = fetch_sample(*pair.train, i);
      for (const float v : sample.inputs[0]) EXPECT_LT(std::abs(v), 50.0f);
    }
  }
  const DataPair pair = open({}, 0, 0, 0);
  EXPECT_EQ(pair.train->size(), 10'000);
  EXPECT_EQ(pair.test->size(), 2'000);
  EXPECT_EQ(spec_text(pair.train->spec()), "3x32x32 -> 10 classes");
}

TEST(Synthetic, BadSizesAreUserErrors) {
  expect_user_error([] { open({{3, 0, 2}}, 2, 1, 1); }, {"3x0x2"});
  expect_user_error([] { open({{3}}, 2, -1, 1); }, {"-1"});
  DataSpec spec;
  spec.inputs = {{4}};
  expect_user_error([&] { make_synthetic(spec, 1, 0, false); }, {"0 classes"});
}

}  // namespace
}  // namespace trireme::data
