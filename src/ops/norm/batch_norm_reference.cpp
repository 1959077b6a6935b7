#include "ops/norm/batch_norm_reference.h"

#include <cmath>

#include "base/index.h"

namespace trireme::ops {
namespace {

using base::at;

struct Channel {
  double mean = 0, variance = 0, inverse_deviation = 0;  // biased variance
};

// Calls f(position) for every element of a channel.
template <class F>
void for_each_of_channel(const Shape& shape, std::int64_t c, const F& f) {
  const std::int64_t spatial = shape.count_from(2);
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t s = 0; s < spatial; ++s) f(at((n * shape[1] + c) * spatial + s));
}

double values_per_channel(const Shape& shape) { return static_cast<double>(shape[0] * shape.count_from(2)); }

Channel channel(const BatchNormOptions& o, const Reference& r, std::int64_t c) {
  Channel result;
  if (r.training) {
    const double count = values_per_channel(r.shapes[0]);
    for_each_of_channel(r.shapes[0], c, [&](std::size_t i) { result.mean += r.src[0][i] / count; });
    for_each_of_channel(r.shapes[0], c, [&](std::size_t i) {
      const double distance = r.src[0][i] - result.mean;
      result.variance += distance * distance / count;
    });
  } else {
    result.mean = r.weights[2][at(c)];
    result.variance = r.weights[3][at(c)];
  }
  result.inverse_deviation = 1 / std::sqrt(result.variance + o.epsilon);
  return result;
}

// The value before the ReLU.
double value(const BatchNormOptions& o, const Reference& r, const Channel& k, std::int64_t c, std::size_t i) {
  const double normed = (r.src[0][i] - k.mean) * k.inverse_deviation * r.weights[0][at(c)] + r.weights[1][at(c)];
  return o.add ? normed + r.src[1][i] : normed;
}

}  // namespace

void batch_norm_reference_forward(const BatchNormOptions& o, Reference& r) {
  const Shape& shape = r.shapes[0];
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    const Channel k = channel(o, r, c);
    for_each_of_channel(shape, c, [&](std::size_t i) {
      const double y = value(o, r, k, c, i);
      r.dst[i] = o.relu && y <= 0 ? 0 : y;
    });
    if (!r.training) continue;
    const double count = values_per_channel(shape);
    const double samples = static_cast<double>(shape[0]);
    r.diff_weights[2][at(c)] = samples * k.mean;
    r.diff_weights[3][at(c)] = samples * (count > 1 ? k.variance * count / (count - 1) : k.variance);
  }
}

void batch_norm_reference_backward(const BatchNormOptions& o, Reference& r) {
  const Shape& shape = r.shapes[0];
  const double count = values_per_channel(shape);
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    const Channel k = channel(o, r, c);
    const auto gradient = [&](std::size_t i) { return o.relu && !(value(o, r, k, c, i) > 0) ? 0.0 : r.diff_dst[i]; };
    const auto normed = [&](std::size_t i) { return (r.src[0][i] - k.mean) * k.inverse_deviation; };
    double sum = 0, sum_normed = 0;
    for_each_of_channel(shape, c, [&](std::size_t i) {
      sum += gradient(i);
      sum_normed += gradient(i) * normed(i);
    });
    r.diff_weights[0][at(c)] = sum_normed;
    r.diff_weights[1][at(c)] = sum;
    const double scale = r.weights[0][at(c)] * k.inverse_deviation;
    for_each_of_channel(shape, c, [&](std::size_t i) {
      if (!r.diff_src[0].empty())
        r.diff_src[0][i] = scale * (gradient(i) - sum / count - normed(i) * sum_normed / count);
      if (o.add && !r.diff_src[1].empty()) r.diff_src[1][i] = gradient(i);
    });
  }
}

}  // namespace trireme::ops
