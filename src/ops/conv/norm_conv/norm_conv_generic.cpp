// The passes of norm_conv_passes.h in plain C++, with the same bits as the others: for tests and for CPUs without AVX2.
#include <cstring>

#include "ops/conv/norm_conv/norm_conv_set.h"

namespace trireme::ops::normed {
namespace {

struct Generic {
  static constexpr int kWidth = 4, kBlock = 8;
  static constexpr int kSums = 4, kRows = 2, kVectors = 2;
  typedef float Vector __attribute__((vector_size(16)));
  using Mask = std::int64_t;  // how many lanes

  static Mask mask(std::int64_t lanes) { return lanes; }
  static Vector load(const float* p) { return load_part(p, kWidth); }
  static Vector load_part(const float* p, Mask lanes) {
    Vector v{};
    std::memcpy(&v, p, static_cast<std::size_t>(lanes) * sizeof(float));
    return v;
  }
  static void store(float* p, Vector v) { std::memcpy(p, &v, sizeof v); }
  static void store_part(float* p, Vector v, Mask lanes) {
    std::memcpy(p, &v, static_cast<std::size_t>(lanes) * sizeof(float));
  }
  static Vector splat(float x) { return Vector{x, x, x, x}; }
  static Vector held(Vector v) { return v; }
  static Vector fma(Vector a, Vector b, Vector c) {
    for (int i = 0; i < kWidth; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
  }
  static Vector positive_part(Vector x) { return Vector{} > x ? Vector{} : x; }
  static Vector where_positive(Vector sign, Vector x) { return sign > Vector{} ? x : Vector{}; }
  static void add_to(double* sums, Vector v) {
    for (int i = 0; i < kWidth; ++i) sums[i] += static_cast<double>(v[i]);
  }
};

}  // namespace

const Passes kGenericPasses = Set<Generic>::passes();

const Passes& passes(base::Isa isa) { return base::for_isa(isa, kGenericPasses, kAvx2Passes, kAvx512Passes); }

}  // namespace trireme::ops::normed
