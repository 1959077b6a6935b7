#include "train/evaluation/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trireme::train {
namespace {

using data::TargetKind;

// The sums of a batch begin with these two, then have kOfValue or kOfLabel numbers per value or label.
constexpr std::size_t kCount = 0, kExact = 1, kFirst = 2;
enum OfValue : std::size_t { kAbsolute, kSquare, kMean, kSpread, kOfValue };  // kSpread: squared distances from kMean
enum OfLabel : std::size_t { kHave, kPredicted, kRight, kOfLabel };

std::size_t sums_of_each(TargetKind target) {
  switch (target) {
    case TargetKind::classes: return 0;
    case TargetKind::labels: return kOfLabel;
    case TargetKind::values: return kOfValue;
  }
  return 0;
}

std::optional<double> ratio(double part, double whole) {
  if (whole == 0) return {};
  return part / whole;
}

std::optional<double> mean_of_known(const auto& scores, const auto& score) {
  double sum = 0;
  std::int64_t known = 0;
  for (const auto& each : scores)
    if (const std::optional<double> value = score(each)) sum += *value, ++known;
  return ratio(sum, static_cast<double>(known));
}

// Subtracts `center` from outputs and targets alike, so that a shift of all values changes no bit of their errors.
void sum_value(std::int64_t samples, std::size_t stride, const float* outputs, const float* targets, double center,
               double factor, double* sums) {
  const auto row = [&](std::int64_t s) { return static_cast<std::size_t>(s) * stride; };
  double mean = 0;
  for (std::int64_t s = 0; s < samples; ++s) mean += static_cast<double>(targets[row(s)]) - center;
  mean /= static_cast<double>(samples);
  for (std::int64_t s = 0; s < samples; ++s) {
    const double target = static_cast<double>(targets[row(s)]) - center;
    const double error = static_cast<double>(outputs[row(s)]) * factor - target;
    sums[kAbsolute] += std::abs(error);
    sums[kSquare] += error * error;
    sums[kSpread] += (target - mean) * (target - mean);
  }
  sums[kMean] = mean;
}

// Adds the sums of `more` samples to those of `before`; means and spreads combine as in Chan, Golub, LeVeque 1979.
void add_value(const double* sums, double before, double more, double* all) {
  const double distance = sums[kMean] - all[kMean], count = before + more;
  all[kAbsolute] += sums[kAbsolute];
  all[kSquare] += sums[kSquare];
  all[kMean] += distance * (more / count);
  all[kSpread] += sums[kSpread] + distance * distance * (before * more / count);
}

}  // namespace

std::optional<double> ClassScore::precision() const {
  return ratio(static_cast<double>(right), static_cast<double>(predicted));
}
std::optional<double> ClassScore::recall() const {
  return ratio(static_cast<double>(right), static_cast<double>(samples));
}
std::optional<double> ClassScore::f1() const {
  return ratio(2 * static_cast<double>(right), static_cast<double>(samples + predicted));
}

ValueScore Scores::all_values() const {
  ValueScore all;
  double square = 0;
  for (const ValueScore& value : values) {
    all.mae += value.mae;
    square += value.rmse * value.rmse;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(values.size(), 1));
  all.mae /= count;
  all.rmse = values.size() == 1 ? values[0].rmse : std::sqrt(square / count);
  all.r2 = mean_of_known(values, [](const ValueScore& value) { return value.r2; });
  return all;
}

std::optional<double> Scores::f1_micro() const {
  ClassScore all;
  for (const ClassScore& label : labels) {
    all.samples += label.samples;
    all.predicted += label.predicted;
    all.right += label.right;
  }
  return all.f1();
}

std::optional<double> Scores::f1_macro() const {
  return mean_of_known(labels, [](const ClassScore& label) { return label.f1(); });
}

std::vector<observe::Score> Scores::named() const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!values.empty()) {
    const ValueScore all = all_values();
    return {{"mae", all.mae}, {"rmse", all.rmse}, {"r2", all.r2.value_or(kNone)}};
  }
  if (labels.empty()) return {};
  return {
      {"f1_micro", f1_micro().value_or(kNone)}, {"f1_macro", f1_macro().value_or(kNone)}, {"exact_match", exact_match}};
}

bool says_label(float output) { return 1 / (1 + std::exp(-static_cast<double>(output))) >= 0.5; }

std::size_t score_sums(const data::DataSpec& spec) {
  const std::size_t each = sums_of_each(spec.target);
  return each == 0 ? 0 : kFirst + each * static_cast<std::size_t>(spec.classes);
}

void sum_scores(const data::DataSpec& spec, const data::TargetScale& scale, std::int64_t samples,
                std::span<const float> outputs, std::span<const float> targets, std::span<double> sums) {
  std::ranges::fill(sums, 0.0);
  const auto width = static_cast<std::size_t>(spec.classes);
  sums[kCount] = static_cast<double>(samples);
  if (spec.target == TargetKind::values) {
    for (std::size_t k = 0; k < width; ++k)
      sum_value(samples, width, outputs.data() + k, targets.data() + k, scale.is_none() ? 0 : scale.mean[k],
                scale.is_none() ? 1 : scale.deviation[k], sums.data() + kFirst + k * kOfValue);
    return;
  }
  for (std::int64_t s = 0; s < samples; ++s) {
    bool all_right = true;
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t at = static_cast<std::size_t>(s) * width + k;
      const bool has = targets[at] > 0.5f, found = says_label(outputs[at]);
      double* of = sums.data() + kFirst + k * kOfLabel;
      of[kHave] += has ? 1 : 0;
      of[kPredicted] += found ? 1 : 0;
      of[kRight] += has && found ? 1 : 0;
      all_right &= has == found;
    }
    sums[kExact] += all_right ? 1 : 0;
  }
}

Scores scores_of(const data::DataSpec& spec, std::span<const double> sums) {
  Scores scores;
  const std::size_t size = score_sums(spec), width = static_cast<std::size_t>(spec.classes);
  if (size == 0 || sums.size() < size) return scores;
  std::vector<double> all(size, 0.0);
  for (std::size_t from = 0; from + size <= sums.size(); from += size) {
    const double* batch = sums.data() + from;
    for (std::size_t i = kFirst; i < size && spec.target == TargetKind::values; i += kOfValue)
      add_value(batch + i, all[kCount], batch[kCount], all.data() + i);
    for (std::size_t i = 0; i < (spec.target == TargetKind::values ? kFirst : size); ++i) all[i] += batch[i];
  }
  const double count = all[kCount];
  for (std::size_t k = 0; k < width; ++k) {
    if (spec.target == TargetKind::values) {
      const double* of = all.data() + kFirst + k * kOfValue;
      const std::optional<double> unexplained = ratio(of[kSquare], of[kSpread]);
      scores.values.push_back({of[kAbsolute] / count, std::sqrt(of[kSquare] / count), {}});
      if (unexplained) scores.values.back().r2 = 1 - *unexplained;
    } else {
      const double* of = all.data() + kFirst + k * kOfLabel;
      const auto whole = [](double number) { return static_cast<std::int64_t>(number); };
      scores.labels.push_back({whole(of[kHave]), whole(of[kPredicted]), whole(of[kRight])});
    }
  }
  scores.exact_match = all[kExact] / count;
  return scores;
}

}  // namespace trireme::train
