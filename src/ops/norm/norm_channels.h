// NormChannels: the per-channel arithmetic of batch norm between its passes, shared by all kernels that normalise, in
// double. Thread-safe.
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/norm/batch_norm.h"

namespace trireme::ops {

// The values per channel that forward keeps for backward: y = x * a + b.
struct NormSaved {
  float *mean, *inverse_deviation, *a, *b;

  NormSaved(std::byte* memory, std::int64_t channels)
      : mean(reinterpret_cast<float*>(memory)),
        inverse_deviation(mean + channels),
        a(inverse_deviation + channels),
        b(a + channels) {}
  static std::size_t bytes(std::int64_t channels) { return static_cast<std::size_t>(channels) * 4 * sizeof(float); }
};

// The mean and variance that normalise a channel.
struct Moments {
  double mean = 0, variance = 0;
};

class NormChannels {
 public:
  NormChannels(const BatchNormOptions& options, std::int64_t samples, std::int64_t values)
      : epsilon_(options.epsilon), samples_(samples), values_(values) {}

  // The moments from the sums of the distances from `origin` and of their squares.
  Moments moments(double origin, double distances, double squares) const {
    const double values = static_cast<double>(values_), distance = distances / values;
    const double difference = squares / values - distance * distance;
    return {origin + distance, difference < 0 ? 0 : difference};  // NaN stays NaN
  }

  // Sets the channel's saved values, and writes the sums for the running statistics to the slot's diff_weights.
  void use(const KernelArgs& args, const OarRun& run, const NormSaved& saved, std::int64_t c, Moments moments) const {
    const auto [mean, variance] = moments;
    save(args, saved, c, mean, variance);
    const double values = static_cast<double>(values_);
    const double unbiased = values_ > 1 ? variance * (values / (values - 1)) : variance;
    const auto slot = static_cast<std::size_t>(run.slot);
    if (slot >= args.diff_weights.size() || args.diff_weights[slot][2] == nullptr) return;
    args.diff_weights[slot][2][c] = static_cast<float>(static_cast<double>(samples_) * mean);
    args.diff_weights[slot][3][c] = static_cast<float>(static_cast<double>(samples_) * unbiased);
  }

  void use_running(const KernelArgs& args, const NormSaved& saved, std::int64_t c) const {
    save(args, saved, c, static_cast<double>(args.weights[2][c]), static_cast<double>(args.weights[3][c]));
  }

  // Computes the parameters' gradients from the sums of diff_y and of diff_y * (x - mean), and slope and level of
  // diff_x = a * diff_y + slope * (x - mean) + level, which is a * (diff_y - mean(diff_y) - xhat * mean(diff_y * xhat))
  // with xhat = (x - mean) * inverse_deviation.
  void gradients(const KernelArgs& args, const OarRun& run, const NormSaved& saved, std::int64_t c, double sum,
                 double products, float& slope, float& level) const {
    const double values = static_cast<double>(values_);
    const auto& diff_weights = args.diff_weights[static_cast<std::size_t>(run.slot)];
    const double inverse_deviation = static_cast<double>(saved.inverse_deviation[c]);
    const double a = static_cast<double>(saved.a[c]);
    const double normed = products * inverse_deviation;
    if (diff_weights[0] != nullptr) diff_weights[0][c] = static_cast<float>(normed);
    if (diff_weights[1] != nullptr) diff_weights[1][c] = static_cast<float>(sum);
    slope = static_cast<float>(-a * inverse_deviation * normed / values);
    level = static_cast<float>(-a * sum / values);
  }

 private:
  void save(const KernelArgs& args, const NormSaved& saved, std::int64_t c, double mean, double variance) const {
    const double inverse_deviation = 1 / std::sqrt(variance + epsilon_);
    saved.mean[c] = static_cast<float>(mean);
    saved.inverse_deviation[c] = static_cast<float>(inverse_deviation);
    saved.a[c] = static_cast<float>(static_cast<double>(args.weights[0][c]) * inverse_deviation);
    saved.b[c] = static_cast<float>(static_cast<double>(args.weights[1][c]) - mean * static_cast<double>(saved.a[c]));
  }

  double epsilon_;
  std::int64_t samples_, values_;
};

}  // namespace trireme::ops
