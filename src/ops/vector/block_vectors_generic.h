// Vectors of a block of channels in plain C++, with the same bits as the other sets.
#pragma once

#include <cstdint>
#include <cstring>

namespace trireme::ops {

struct BlockVectorsGeneric {
  static constexpr int kWidth = 8;
  typedef float Vector __attribute__((vector_size(32)));

  static Vector load(const float* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(float* p, Vector v) { std::memcpy(p, &v, sizeof v); }
  static Vector splat(float x) { return x - Vector{}; }
  static Vector fma(Vector a, Vector b, Vector c) {
    Vector r;
    for (int i = 0; i < kWidth; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return r;
  }
  static Vector fnma(Vector a, Vector b, Vector c) { return fma(-a, b, c); }
  static Vector positive_part(Vector x) { return x < Vector{} ? Vector{} : x; }
  static Vector where_positive(Vector sign, Vector x) { return sign > Vector{} ? x : Vector{}; }
  static bool has_nonzero(Vector x) {
    for (int i = 0; i < kWidth; ++i)
      if (x[i] != 0) return true;
    return false;
  }
  static void transpose(const float* from, std::int64_t step, float* to) {
    for (int i = 0; i < kWidth; ++i)
      for (int j = 0; j < kWidth; ++j) to[j * kWidth + i] = from[i * step + j];
  }
};

}  // namespace trireme::ops
