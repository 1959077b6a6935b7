// repeat<N>(f): calls f(0), ..., f(N - 1) unrolled, with compile-time constants, so that arrays indexed by them become
// registers.
#pragma once

#include <utility>

namespace trireme::ops {

template <int N, class F>
[[gnu::always_inline]] inline void repeat(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

}  // namespace trireme::ops
