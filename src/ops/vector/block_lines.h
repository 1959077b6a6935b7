// BlockLines: the operations in which the transforms of Winograd and Toom-Cook convolutions are written, on vectors of
// channels S (see winograd_set.h). Thread-safe.
#pragma once

#include "ops/vector/repeat.h"

namespace trireme::ops {

template <class S>
struct BlockLines {
  using V = typename S::Vector;

  // y + f x and y - f x.
  [[gnu::always_inline]] static V plus(V y, float f, V x) { return S::fma(S::splat(f), x, y); }
  [[gnu::always_inline]] static V minus(V y, float f, V x) { return S::fnma(S::splat(f), x, y); }
  [[gnu::always_inline]] static V times(float f, V x) { return S::splat(f) * x; }
};

}  // namespace trireme::ops
