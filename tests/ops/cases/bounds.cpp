#include "ops/cases/bounds.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"

namespace trireme::optest {
namespace {

using base::at;

std::vector<double> absolute(std::vector<double> values) {
  for (double& v : values) v = std::abs(v);
  return values;
}

std::vector<std::vector<double>> absolute(const std::vector<std::vector<double>>& all) {
  std::vector<std::vector<double>> result;
  for (const auto& values : all) result.push_back(absolute(values));
  return result;
}

std::vector<double> scaled(double factor, std::vector<double> values) {
  for (double& v : values) v *= factor;
  return values;
}

// Zeros in the shape of the reference's results.
Bounds no_error(const Reference& exact) {
  Bounds b;
  b.dst.assign(exact.dst.size(), 0.0);
  for (const auto& v : exact.diff_src) b.diff_src.emplace_back(v.size(), 0.0);
  for (const auto& v : exact.diff_weights) b.diff_weights.emplace_back(v.size(), 0.0);
  return b;
}

// Sums over a row of K values go over sixteen lanes and then through four more additions.
double row_roundings(double count) { return std::ceil(count / 16) + 4; }

}  // namespace

double rounding(double k) { return kUnit * std::min(k / (1 - k * kUnit), 6 * std::sqrt(k)); }

BoundRule linear(Roundings k) {
  return [k](const ops::Op& op, const Reference& exact, const std::vector<double>& diff_dst) {
    Reference sums = exact;
    sums.src = absolute(exact.src);
    sums.weights = absolute(exact.weights);
    op.reference_forward(sums);
    Bounds b;
    b.dst = scaled(rounding(k.dst), sums.dst);
    if (!exact.training) return b;
    sums.dst = exact.dst;  // decides where a folded-in ReLU lets nothing through
    sums.diff_dst = absolute(diff_dst);
    op.reference_backward(sums);
    for (auto& values : sums.diff_src) b.diff_src.push_back(scaled(rounding(k.diff_src), std::move(values)));
    for (auto& values : sums.diff_weights)
      b.diff_weights.push_back(scaled(rounding(k.diff_weights), std::move(values)));
    return b;
  };
}

BoundRule choosing(double diff_src_roundings) {
  return [=](const ops::Op& op, const Reference& exact, const std::vector<double>& diff_dst) {
    Bounds b = no_error(exact);
    if (!exact.training) return b;
    Reference sums = exact;
    sums.diff_dst = absolute(diff_dst);
    op.reference_backward(sums);
    b.diff_src[0] = scaled(rounding(diff_src_roundings), sums.diff_src[0]);
    return b;
  };
}

BoundRule elementwise(double dst, double diff_src) {
  return [=](const ops::Op&, const Reference& exact, const std::vector<double>& diff_dst) {
    Bounds b = no_error(exact);
    b.dst = scaled(dst * kUnit, absolute(exact.dst));
    if (exact.training) b.diff_src[0] = scaled(diff_src * kUnit, absolute(diff_dst));
    return b;
  };
}

// Sums are made in runs of at most about 70 float additions that then go into doubles, of distances from the channel's
// first value x0; every following quantity carries the error of the ones before it to first order. With d = mean - x0:
//   mean      L u mean|x - x0|                        variance  (L + 1) u mean (x - x0)^2 + 2 |d| error(mean)
//   1/s       1/s (error(variance) / (2 s^2) + u)     a = scale / s likewise
//   dst       x a + b with b = shift - mean a: the errors of mean and a, and u of x a, b and the sums
//   sums      S1 = sum g: L u sum|g|                  S2 = sum g (x - mean): (L + 3) u sum|g||x - mean| + sum|g|
//   error(mean) diff_src  a g - a S1 / n - a (x - mean) S2 / (s^2 n), each term with the errors of its factors
// A factor of 2 covers the terms of second order.
BoundRule batch_norm_bound(double epsilon) {
  return [=](const ops::Op&, const Reference& exact, const std::vector<double>& diff_dst) {
    Bounds bounds = no_error(exact);
    const Shape& shape = exact.shapes[0];
    const std::int64_t spatial = shape.count_from(2);
    const double n = static_cast<double>(shape[0] * spatial), samples = static_cast<double>(shape[0]);
    const double u = 2 * kUnit, runs = std::min(n, 70.0) + 3;
    const bool add = exact.src.size() > 1;
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      std::vector<std::size_t> places;
      for (std::int64_t sample = 0; sample < shape[0]; ++sample)
        for (std::int64_t s = 0; s < spatial; ++s) places.push_back(at((sample * shape[1] + c) * spatial + s));
      const auto& x = exact.src[0];
      const double x0 = x[places[0]];
      double mean = 0, variance = 0, distances = 0, squares = 0;
      for (const std::size_t i : places) mean += x[i] / n;
      for (const std::size_t i : places) {
        variance += (x[i] - mean) * (x[i] - mean) / n;
        distances += std::abs(x[i] - x0) / n;
        squares += (x[i] - x0) * (x[i] - x0) / n;
      }
      double mean_error = runs * u * distances;
      double variance_error = (runs + 1) * u * squares + 2 * std::abs(mean - x0) * mean_error;
      if (!exact.training) {
        mean = exact.weights[2][at(c)];
        variance = exact.weights[3][at(c)];
        mean_error = variance_error = 0;
      }
      const double inverse = 1 / std::sqrt(variance + epsilon);
      const double inverse_relative = 0.5 * inverse * inverse * variance_error + u;
      const double a = std::abs(exact.weights[0][at(c)]) * inverse;
      const double b = std::abs(exact.weights[1][at(c)]) + std::abs(mean) * a;
      for (const std::size_t i : places) {
        const double more = add ? std::abs(exact.src[1][i]) : 0;
        bounds.dst[i] =
            a * std::abs(x[i] - mean) * inverse_relative + a * mean_error + u * (3 * a * std::abs(x[i]) + 3 * b + more);
      }
      if (!exact.training) continue;
      bounds.diff_weights[2][at(c)] = samples * (mean_error + u * std::abs(mean));
      bounds.diff_weights[3][at(c)] = samples * (n > 1 ? n / (n - 1) : 1) * (variance_error + u * variance);

      double sum = 0, product_sum = 0, magnitude = 0, product_magnitude = 0;
      const auto gradient = [&](std::size_t i) { return exact.dst[i] == 0 ? 0 : diff_dst[i]; };  // 0: a ReLU's
      for (const std::size_t i : places) {
        sum += gradient(i);
        product_sum += gradient(i) * (x[i] - mean);
        magnitude += std::abs(gradient(i));
        product_magnitude += std::abs(gradient(i) * (x[i] - mean));
      }
      const double kept_mean_error = mean_error + u * std::abs(mean);  // it is kept as a float
      const double sum_error = runs * u * magnitude;
      const double product_error = (runs + 3) * u * product_magnitude + magnitude * kept_mean_error;
      bounds.diff_weights[0][at(c)] =
          inverse * product_error + std::abs(product_sum) * inverse * (inverse_relative + u);
      bounds.diff_weights[1][at(c)] = sum_error + u * std::abs(sum);
      for (const std::size_t i : places) {
        const double distance = std::abs(x[i] - mean), factor = a * inverse * inverse / n;
        bounds.diff_src[0][i] =
            a * std::abs(gradient(i)) * (inverse_relative + 2 * u) +
            a / n * (sum_error + std::abs(sum) * (inverse_relative + 2 * u)) +
            factor * (distance * product_error +
                      std::abs(product_sum) * (kept_mean_error + distance * (3 * inverse_relative + 5 * u)));
      }
    }
    return bounds;
  };
}

// The norm's output y carries its own error into the convolution's sums. Backward, the gradient of y is off by the
// rounding of its sum over outputs, and what the norm makes of that error is, with h = (x - mean) / s where y > 0:
// a (e - mean(e) - h mean(e h)) for diff_src, sum(e h) for its scale and sum(e) for its shift.
BoundRule norm_conv_bound(double epsilon, ops::OpPtr norm, ops::OpPtr conv) {
  return [=](const ops::Op&, const Reference& exact, const std::vector<double>& diff_dst) {
    Reference normed = exact, sums = exact;
    normed.weights.resize(4);
    normed.diff_weights.resize(4);
    normed.dst.resize(exact.src[0].size());
    norm->reference_forward(normed);
    const Shape& shape = exact.shapes[0];
    const double in = static_cast<double>(shape[1]), out = static_cast<double>(exact.weights[4].size()) / in;
    const double n = static_cast<double>(shape[0] * shape.count_from(2));

    sums.weights = {absolute(exact.weights[4])};
    sums.diff_weights = {std::vector<double>(exact.weights[4].size())};
    sums.diff_src = {std::vector<double>(exact.src[0].size())};
    const auto through = [&](const std::vector<double>& y) {
      sums.src = {absolute(y)};
      conv->reference_forward(sums);
      return sums.dst;
    };
    Reference gradient = exact;  // of y
    gradient.src = {normed.dst};
    gradient.weights = {exact.weights[4]};
    gradient.diff_weights = sums.diff_weights;
    gradient.diff_src = sums.diff_src;
    gradient.diff_dst = diff_dst;
    if (exact.training) conv->reference_backward(gradient);
    const Bounds of_norm = batch_norm_bound(epsilon)(*norm, normed, gradient.diff_src[0]);
    Bounds b = no_error(exact);
    const std::vector<double> carried = through(of_norm.dst), magnitude = through(normed.dst);
    for (std::size_t i = 0; i < b.dst.size(); ++i) b.dst[i] = carried[i] + rounding(in + 1) * magnitude[i];
    if (!exact.training) return b;

    const auto backward = [&](const std::vector<double>& y) {
      sums.src = {absolute(y)};
      sums.diff_dst = absolute(diff_dst);
      conv->reference_backward(sums);
      return sums.diff_weights[0];
    };
    const std::vector<double> carried_weights = backward(of_norm.dst), weights = backward(normed.dst);
    for (std::size_t i = 0; i < weights.size(); ++i)
      b.diff_weights[4][i] = carried_weights[i] + rounding(n) * weights[i];
    const std::vector<double> error = scaled(rounding(out), sums.diff_src[0]);
    b.diff_src = of_norm.diff_src;
    std::copy(of_norm.diff_weights.begin(), of_norm.diff_weights.end(), b.diff_weights.begin());
    for (std::int64_t c = 0; c < shape[1]; ++c) {
      std::vector<std::size_t> places;
      for (std::int64_t sample = 0; sample < shape[0]; ++sample)
        for (std::int64_t s = 0; s < shape.count_from(2); ++s)
          places.push_back(at((sample * shape[1] + c) * shape.count_from(2) + s));
      double mean = 0, variance = 0, errors = 0, products = 0;
      for (const std::size_t i : places) mean += exact.src[0][i] / n;
      for (const std::size_t i : places) variance += (exact.src[0][i] - mean) * (exact.src[0][i] - mean) / n;
      const double inverse = 1 / std::sqrt(variance + epsilon), a = std::abs(exact.weights[0][at(c)]) * inverse;
      const auto h = [&](std::size_t i) { return std::abs(exact.src[0][i] - mean) * inverse; };
      const auto e = [&](std::size_t i) { return normed.dst[i] > 0 ? error[i] : 0; };
      for (const std::size_t i : places) {
        errors += e(i);
        products += e(i) * h(i);
      }
      for (const std::size_t i : places) b.diff_src[0][i] += a * (e(i) + errors / n + h(i) * products / n);
      b.diff_weights[0][at(c)] += products;
      b.diff_weights[1][at(c)] += errors;
    }
    return b;
  };
}

// exp and log are right to 3 units in the last place, 6 u. A row's spread r = max - min turns the rounding of x - max
// into a relative error r u of its exponential.
BoundRule softmax_bound() {
  return [](const ops::Op&, const Reference& exact, const std::vector<double>&) {
    Bounds b = no_error(exact);
    const auto k = at(exact.shapes[0][1]);
    for (std::size_t n = 0; n < exact.dst.size(); ++n) {
      const auto row = exact.src[0].begin() + static_cast<std::ptrdiff_t>(n * k);
      const auto [low, high] = std::minmax_element(row, row + static_cast<std::ptrdiff_t>(k));
      const double sum_error = kUnit * (6 + (*high - *low) + row_roundings(static_cast<double>(k)));
      b.dst[n] = sum_error + kUnit * (2 * (*high - *low) + 8 * exact.dst[n]);
      if (!exact.training) continue;
      const double scale = static_cast<double>(exact.run.loss_scale);
      for (std::size_t i = 0; i < k; ++i) {
        const double gradient = exact.diff_src[0][n * k + i];
        const bool is_label = i == static_cast<std::size_t>(exact.src[1][n]);
        const double share = is_label ? gradient + scale : gradient;  // scale * probability
        b.diff_src[0][n * k + i] = 2 * share * (sum_error + kUnit * (9 + (*high - *low))) +
                                   (is_label ? kUnit * (std::abs(gradient) + share) : 0);
      }
    }
    return b;
  };
}

// Each label's term max(x, 0) - x t + log(1 + e^-|x|) is off by at most (3 |x| + 8) u.
BoundRule sigmoid_loss_bound() {
  return [](const ops::Op&, const Reference& exact, const std::vector<double>&) {
    Bounds b = no_error(exact);
    const auto k = at(exact.shapes[0][1]);
    const double count = static_cast<double>(k), scale = static_cast<double>(exact.run.loss_scale);
    for (std::size_t n = 0; n < exact.dst.size(); ++n) {
      double terms = 0;
      for (std::size_t i = 0; i < k; ++i) terms += kUnit * (3 * std::abs(exact.src[0][n * k + i]) + 8) / count;
      b.dst[n] = terms + kUnit * (row_roundings(count) + 1) * exact.dst[n];
    }
    if (exact.training) b.diff_src[0].assign(b.diff_src[0].size(), 12 * kUnit * scale / count);
    return b;
  };
}

BoundRule squared_error_bound() {
  return [](const ops::Op&, const Reference& exact, const std::vector<double>&) {
    Bounds b = no_error(exact);
    const double count = static_cast<double>(exact.shapes[0][1]);
    b.dst = scaled(kUnit * (row_roundings(count) + 4), exact.dst);
    if (exact.training) b.diff_src[0] = scaled(5 * kUnit, absolute(exact.diff_src[0]));
    return b;
  };
}

}  // namespace trireme::optest
