#include "ops/dense/dense_reference.h"

#include <algorithm>

namespace trireme::ops {

void dense_reference_forward(const DenseOptions& o, Reference& r) {
  const auto n = static_cast<std::size_t>(r.shapes[0][0]), in = static_cast<std::size_t>(r.shapes[0][1]);
  const auto out = static_cast<std::size_t>(o.outputs);
  for (std::size_t b = 0; b < n; ++b)
    for (std::size_t k = 0; k < out; ++k) {
      double sum = o.bias ? r.weights[1][k] : 0.0;
      for (std::size_t i = 0; i < in; ++i) sum += r.src[0][b * in + i] * r.weights[0][k * in + i];
      r.dst[b * out + k] = o.relu ? std::max(sum, 0.0) : sum;
    }
}

void dense_reference_backward(const DenseOptions& o, Reference& r) {
  const auto n = static_cast<std::size_t>(r.shapes[0][0]), in = static_cast<std::size_t>(r.shapes[0][1]);
  const auto out = static_cast<std::size_t>(o.outputs);
  for (auto* all : {&r.diff_src[0], &r.diff_weights[0]}) std::fill(all->begin(), all->end(), 0.0);
  if (o.bias) std::fill(r.diff_weights[1].begin(), r.diff_weights[1].end(), 0.0);
  for (std::size_t b = 0; b < n; ++b)
    for (std::size_t k = 0; k < out; ++k) {
      const double diff = o.relu && r.dst[b * out + k] <= 0 ? 0.0 : r.diff_dst[b * out + k];
      if (o.bias) r.diff_weights[1][k] += diff;
      for (std::size_t i = 0; i < in; ++i) {
        r.diff_src[0][b * in + i] += diff * r.weights[0][k * in + i];
        r.diff_weights[0][k * in + i] += diff * r.src[0][b * in + i];
      }
    }
}

}  // namespace trireme::ops
