#include "data/readers/synthetic.h"

#include <algorithm>
#include <utility>

#include "base/cpu/math.h"
#include "base/error.h"
#include "base/rng.h"
#include "data/readers/synthetic_noise.h"
#include "data/stages/scratch.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kWaves = 4;            // cosines of 0 ... 3 half-waves along each axis
constexpr std::int64_t kHiddenForValues = 8;  // hidden numbers behind real targets
constexpr std::int64_t kShortestSpectrum = 64;

// The purpose of a random stream (its third number). Samples of the train and test sets are streams 0 and 1.
enum Stream : std::uint64_t { kTrainSamples, kTestSamples, kPatterns, kMixing, kLines };
// In a sample's stream, the noise starts here, behind the hidden numbers.
constexpr std::uint64_t kNoisePosition = std::uint64_t{1} << 32;

// A shape as channels x rows x columns: {n} is one row, {c, n} has rows of length n.
struct Planes {
  std::int64_t channels, rows, columns;
};
Planes planes_of(const tensor::Shape& shape) {
  if (shape.rank() == 1) return {1, 1, shape[0]};
  const std::int64_t columns = shape[shape.rank() - 1];
  return {shape[0], shape.count() / (shape[0] * columns), columns};
}

// waves x length cosines, each with mean square 1.
std::vector<float> cosines(std::int64_t length) {
  std::vector<float> table;
  for (std::int64_t wave = 0; wave < kWaves; ++wave)
    for (std::int64_t x = 0; x < length; ++x) {
      const double turns = static_cast<double>(wave * (2 * x + 1)) / static_cast<double>(4 * length);
      const double whole = static_cast<double>(static_cast<std::int64_t>(turns));
      table.push_back(wave == 0 ? 1.0f : 1.41421356f * base::cos_turns(static_cast<float>(turns - whole)));
    }
  return table;
}

// Smooth patterns: sums of products of cosines. A sample mixes the coefficients of all patterns by its weights (for a
// class: a single 1) and then evaluates the mixture once.
class Patterns : public Dataset {
 public:
  Patterns(const DataSpec& spec, std::int64_t samples, std::uint64_t seed, Stream stream)
      : spec_(spec), samples_(samples), seed_(seed), stream_(stream) {
    hidden_ = spec.target == TargetKind::values ? kHiddenForValues : spec.classes;
    const base::CounterRng rng(seed, base::Purpose::synthetic, kPatterns);
    std::uint64_t position = 0;
    for (const tensor::Shape& shape : spec.inputs) {
      Input input{planes_of(shape), {}, {}, {}};
      input.down = cosines(input.planes.rows);
      input.across = cosines(input.planes.columns);
      // Waves too fast for a short axis are left out; the others make a pattern of mean square 1.
      const std::int64_t rows = std::min(kWaves, input.planes.rows), columns = std::min(kWaves, input.planes.columns);
      const float scale = __builtin_sqrtf(1.0f / static_cast<float>(rows * columns));
      input.coefficients.resize(static_cast<std::size_t>(hidden_ * input.planes.channels * kWaves * kWaves));
      for (std::size_t k = 0; k < input.coefficients.size(); ++k, ++position) {
        const auto wave = static_cast<std::int64_t>(k) % (kWaves * kWaves);
        if (wave / kWaves < rows && wave % kWaves < columns) input.coefficients[k] = scale * rng.normal(position);
      }
      inputs_.push_back(std::move(input));
    }
    if (spec.target != TargetKind::values) return;
    const base::CounterRng mixing(seed, base::Purpose::synthetic, kMixing);
    for (std::int64_t k = 0; k < spec.classes * hidden_; ++k)
      mixing_.push_back(mixing.normal(static_cast<std::uint64_t>(k)) / __builtin_sqrtf(static_cast<float>(hidden_)));
  }
  const DataSpec& spec() const override { return spec_; }
  std::int64_t size() const override { return samples_; }

  void fetch(std::int64_t index, const AugmentationSeed&, std::span<float* const> inputs,
             float* target) const override {
    base::check(index >= 0 && index < samples_, "sample {} of {}", index, samples_);
    const base::CounterRng rng(seed_, base::Purpose::synthetic, stream_, static_cast<std::uint64_t>(index));
    Scratch weights(static_cast<std::size_t>(hidden_));
    const auto [begin, end] = draw_target(index, rng, weights.data(), target);
    std::uint64_t noise = kNoisePosition;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Input& input = inputs_[i];
      const std::int64_t count = spec_.inputs[i].count();
      const std::int64_t coefficients = input.planes.channels * kWaves * kWaves;
      Scratch mixed(static_cast<std::size_t>(coefficients));
      std::fill(mixed.data(), mixed.data() + coefficients, 0.0f);
      for (std::int64_t k = begin; k < end; ++k)
        for (std::int64_t j = 0; j < coefficients; ++j)
          mixed.data()[j] += weights.data()[k] * input.coefficients[static_cast<std::size_t>(k * coefficients + j)];
      draw_pattern(input, mixed.data(), inputs[i]);
      add_noise(inputs[i], count, rng, noise, 1.0f);
      noise += static_cast<std::uint64_t>(count);
    }
  }

 private:
  struct Input {
    Planes planes;
    std::vector<float> down, across;  // waves x rows, waves x columns
    std::vector<float> coefficients;  // hidden x channels x waves down x waves across
  };

  // Sets the target and the weights of patterns [begin, end); all other weights are zero. Returns begin and end.
  std::pair<std::int64_t, std::int64_t> draw_target(std::int64_t index, const base::CounterRng& rng, float* weights,
                                                    float* target) const {
    if (spec_.target == TargetKind::classes) {
      const std::int64_t label = index % spec_.classes;
      weights[label] = 0.75f + 0.5f * rng.uniform(0);
      *target = static_cast<float>(label);
      return {label, label + 1};
    }
    for (std::int64_t k = 0; k < hidden_; ++k) {
      const float drawn = 2.0f * rng.uniform(static_cast<std::uint64_t>(k)) - 1.0f;
      // A label's hidden number keeps a distance from 0, where noise would decide the sign.
      const bool labels = spec_.target == TargetKind::labels;
      weights[k] = !labels ? drawn : drawn < 0.0f ? 0.75f * drawn - 0.25f : 0.75f * drawn + 0.25f;
      if (labels) target[k] = weights[k] > 0.0f ? 1.0f : 0.0f;
    }
    if (spec_.target == TargetKind::values)
      for (std::int64_t t = 0; t < spec_.classes; ++t) {
        float sum = 0.0f;
        for (std::int64_t k = 0; k < hidden_; ++k)
          sum += mixing_[static_cast<std::size_t>(t * hidden_ + k)] * weights[k];
        target[t] = sum;
      }
    return {0, hidden_};
  }

  static void draw_pattern(const Input& input, const float* coefficients, float* dst) {
    const auto [channels, rows, columns] = input.planes;
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < rows; ++y, dst += columns) {
        float across[kWaves] = {};
        for (std::int64_t v = 0; v < kWaves; ++v)
          for (std::int64_t u = 0; u < kWaves; ++u)
            across[u] +=
                input.down[static_cast<std::size_t>(v * rows + y)] * coefficients[(c * kWaves + v) * kWaves + u];
        const float* w = input.across.data();
        for (std::int64_t x = 0; x < columns; ++x)
          dst[x] = across[0] * w[x] + across[1] * w[columns + x] + across[2] * w[2 * columns + x] +
                   across[3] * w[3 * columns + x];
      }
  }

  DataSpec spec_;
  std::int64_t samples_;
  std::uint64_t seed_;
  Stream stream_;
  std::int64_t hidden_;
  std::vector<Input> inputs_;
  std::vector<float> mixing_;  // targets x hidden
};

// Absorption lines at fixed rest positions in the first 5/9 of the spectrum. Class b shifts all of them right by b /
// classes of the other 4/9 (1 pixel per bin at 1800 pixels and 800 bins).
class Spectra : public Dataset {
 public:
  Spectra(const DataSpec& spec, std::int64_t samples, std::uint64_t seed, Stream stream)
      : spec_(spec), samples_(samples), seed_(seed), stream_(stream) {
    channels_ = spec.inputs[0][0];
    length_ = spec.inputs[0][1];
    const base::CounterRng rng(seed, base::Purpose::synthetic, kLines);
    const float room = static_cast<float>(length_) * (5.0f / 9.0f);
    for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(channels_ * kLinesPerChannel); ++k)
      lines_.push_back({room * rng.uniform(2 * k), 0.5f + rng.uniform(2 * k + 1)});
    shift_per_class_ = static_cast<float>(length_) * (4.0f / 9.0f) / static_cast<float>(spec.classes);
  }
  const DataSpec& spec() const override { return spec_; }
  std::int64_t size() const override { return samples_; }

  void fetch(std::int64_t index, const AugmentationSeed&, std::span<float* const> inputs,
             float* target) const override {
    base::check(index >= 0 && index < samples_, "sample {} of {}", index, samples_);
    const base::CounterRng rng(seed_, base::Purpose::synthetic, stream_, static_cast<std::uint64_t>(index));
    const std::int64_t label = index % spec_.classes;
    const float strength = 0.75f + 0.5f * rng.uniform(0),
                slope = 0.2f * (rng.uniform(1) - 0.5f) / static_cast<float>(length_);
    const float shift = shift_per_class_ * static_cast<float>(label);
    float* dst = inputs[0];
    const std::int64_t middle = length_ / 2;
    std::size_t line = 0;
    for (std::int64_t c = 0; c < channels_; ++c, dst += length_) {
      for (std::int64_t x = 0; x < length_; ++x) dst[x] = 1.0f + slope * static_cast<float>(x - middle);
      for (std::int64_t k = 0; k < kLinesPerChannel; ++k, ++line)
        absorb(dst, lines_[line].rest + shift, strength * lines_[line].depth);
    }
    add_noise(inputs[0], channels_ * length_, rng, kNoisePosition, kNoise);
    *target = static_cast<float>(label);
  }

 private:
  struct Line {
    float rest, depth;
  };
  static constexpr std::int64_t kLinesPerChannel = 24;
  static constexpr float kHalfWidth = 4.0f;  // pixels
  static constexpr float kNoise = 0.1f;

  // Subtracts depth * (1 - t^2)^2 around the centre, t = distance / half width.
  void absorb(float* dst, float centre, float depth) const {
    const auto middle = static_cast<std::int64_t>(centre);
    const std::int64_t begin = std::max<std::int64_t>(0, middle - 4), end = std::min(length_, middle + 6);
    for (std::int64_t x = begin; x < end; ++x) {
      const float t = (static_cast<float>(x) - centre) / kHalfWidth;
      const float inside = std::max(0.0f, 1.0f - t * t);
      dst[x] -= depth * inside * inside;
    }
  }

  DataSpec spec_;
  std::int64_t samples_;
  std::uint64_t seed_;
  Stream stream_;
  std::int64_t channels_, length_;
  std::vector<Line> lines_;
  float shift_per_class_;
};

}  // namespace

DatasetPtr make_synthetic(const DataSpec& spec, std::int64_t samples, std::uint64_t seed, bool test) {
  if (samples < 1) base::user_error("synthetic data of {} samples; give at least 1", samples);
  if (spec.classes < 1 || spec.classes > 1'000'000)
    base::user_error("synthetic data with {} classes or target values, expected 1 ... 1000000", spec.classes);
  if (spec.inputs.empty() || spec.inputs.size() > kMaxInputs)
    base::user_error("synthetic data with {} inputs, expected 1 ... {}", spec.inputs.size(), kMaxInputs);
  for (const tensor::Shape& shape : spec.inputs)
    if (shape.rank() < 1 || std::ranges::any_of(shape.sizes(), [](std::int64_t n) { return n < 1; }))
      base::user_error("synthetic data of shape '{}', expected sizes of at least 1", shape.text());
  const Stream stream = test ? kTestSamples : kTrainSamples;
  const bool spectra = spec.target == TargetKind::classes && spec.inputs.size() == 1 && spec.inputs[0].rank() == 2 &&
                       spec.inputs[0][1] >= kShortestSpectrum;
  if (spectra) return std::make_shared<Spectra>(spec, samples, seed, stream);
  return std::make_shared<Patterns>(spec, samples, seed, stream);
}

}  // namespace trireme::data
