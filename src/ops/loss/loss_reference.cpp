#include "ops/loss/loss_reference.h"

#include <algorithm>
#include <cmath>

namespace trireme::ops {
namespace {

// One sample's prediction (K values) and target.
struct Sample {
  const double* x;
  const double* t;
  std::size_t count;

  Sample(const Reference& r, std::int64_t n)
      : x(r.src[0].data() + n * r.shapes[0][1]),
        t(r.src[1].data() + n * r.shapes[1][1]),
        count(static_cast<std::size_t>(r.shapes[0][1])) {}

  double log_sum_exp() const {
    const double most = *std::max_element(x, x + count);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::exp(x[i] - most);
    return most + std::log(sum);
  }
};

double value(Loss loss, const Sample& s) {
  if (loss == Loss::softmax_cross_entropy) return s.log_sum_exp() - s.x[static_cast<std::size_t>(s.t[0])];
  double sum = 0;
  for (std::size_t i = 0; i < s.count; ++i)
    sum += loss == Loss::squared_error
               ? (s.x[i] - s.t[i]) * (s.x[i] - s.t[i])
               : std::max(s.x[i], 0.0) - s.x[i] * s.t[i] + std::log1p(std::exp(-std::abs(s.x[i])));
  return sum / static_cast<double>(s.count);
}

double correct(Loss loss, const Sample& s) {
  if (loss == Loss::squared_error) return 0;
  if (loss == Loss::softmax_cross_entropy)
    return std::max_element(s.x, s.x + s.count) - s.x == static_cast<std::ptrdiff_t>(s.t[0]) ? 1 : 0;
  double right = 0;
  for (std::size_t i = 0; i < s.count; ++i) right += (s.x[i] > 0) == (s.t[i] > 0.5) ? 1 : 0;
  return right / static_cast<double>(s.count);
}

double class_weight(Loss loss, const Reference& r, const Sample& s) {
  if (loss != Loss::softmax_cross_entropy || r.run.class_weights.empty()) return 1;
  return static_cast<double>(r.run.class_weights[static_cast<std::size_t>(s.t[0])]);
}

double gradient(Loss loss, const Sample& s, std::size_t i) {
  const double share = 1 / static_cast<double>(s.count);
  switch (loss) {
    case Loss::softmax_cross_entropy:
      return std::exp(s.x[i] - s.log_sum_exp()) - (i == static_cast<std::size_t>(s.t[0]) ? 1 : 0);
    case Loss::sigmoid_cross_entropy: return (1 / (1 + std::exp(-s.x[i])) - s.t[i]) * share;
    case Loss::squared_error: return 2 * (s.x[i] - s.t[i]) * share;
  }
  return 0;
}

}  // namespace

void loss_reference_forward(Loss loss, Reference& r) {
  for (std::int64_t n = 0; n < r.shapes[0][0]; ++n) {
    const Sample sample(r, n);
    const double own = value(loss, sample) * class_weight(loss, r, sample);
    r.dst[static_cast<std::size_t>(n)] = own;
    r.run.loss += own;
    r.run.correct += correct(loss, sample);
  }
}

void loss_reference_backward(Loss loss, Reference& r) {
  if (r.diff_src[0].empty()) return;
  for (std::int64_t n = 0; n < r.shapes[0][0]; ++n) {
    const Sample sample(r, n);
    for (std::size_t i = 0; i < sample.count; ++i)
      r.diff_src[0][static_cast<std::size_t>(n) * sample.count + i] =
          gradient(loss, sample, i) * static_cast<double>(r.run.loss_scale) * class_weight(loss, r, sample);
  }
}

}  // namespace trireme::ops
