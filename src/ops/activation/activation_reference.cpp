#include "ops/activation/activation_reference.h"

#include <cmath>

namespace trireme::ops {

void activation_reference_forward(Activation activation, Reference& r) {
  for (std::size_t i = 0; i < r.dst.size(); ++i) {
    const double x = r.src[0][i];
    switch (activation) {
      case Activation::relu: r.dst[i] = x <= 0 ? 0 : x; break;
      case Activation::tanh: r.dst[i] = std::tanh(x); break;
      case Activation::sigmoid: r.dst[i] = 1 / (1 + std::exp(-x)); break;
    }
  }
}

void activation_reference_backward(Activation activation, Reference& r) {
  if (r.diff_src[0].empty()) return;
  for (std::size_t i = 0; i < r.dst.size(); ++i) {
    const double y = r.dst[i];
    switch (activation) {
      case Activation::relu: r.diff_src[0][i] = y > 0 ? r.diff_dst[i] : 0; break;
      case Activation::tanh: r.diff_src[0][i] = r.diff_dst[i] * (1 - y * y); break;
      case Activation::sigmoid: r.diff_src[0][i] = r.diff_dst[i] * y * (1 - y); break;
    }
  }
}

}  // namespace trireme::ops
