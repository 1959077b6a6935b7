// The passes of small_map_passes.h in plain C++, with the same bits as the others: for tests and for CPUs without AVX2.
#include <cstring>

#include "ops/conv/small_map/small_map_set.h"

namespace trireme::ops::small_map {
namespace {

struct Generic {
  static constexpr int kWidth = 4, kBlock = 8;
  static constexpr int kRows = 2, kVectors = 2, kDotRows = 1, kDots = 1;
  typedef float Vector __attribute__((vector_size(16)));

  static Vector load(const float* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(float* p, Vector v) { std::memcpy(p, &v, sizeof v); }
  static Vector splat(float x) { return Vector{x, x, x, x}; }
  static Vector held(Vector v) { return v; }
  static Vector fma(Vector a, Vector b, Vector c) {
    for (int i = 0; i < kWidth; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
  }
  static Vector positive_part(Vector x) { return Vector{} > x ? Vector{} : x; }
  // base::sum() of sixteen lanes.
  static void store_sums(float* p, const Vector (&v)[1][4]) {
    const Vector quarters = (v[0][0] + v[0][2]) + (v[0][1] + v[0][3]);
    *p = (quarters[0] + quarters[2]) + (quarters[1] + quarters[3]);
  }
};

}  // namespace

const Passes kGenericPasses = Set<Generic>::passes();

const Passes& passes(base::Isa isa) { return base::for_isa(isa, kGenericPasses, kAvx2Passes, kAvx512Passes); }

}  // namespace trireme::ops::small_map
