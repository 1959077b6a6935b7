// The passes of the convolution with few channels in plain C++, with the same bits as the others: for tests and for
// CPUs without AVX2.
#include <cstring>

#include "ops/conv/narrow/narrow_channels.h"
#include "ops/conv/narrow/narrow_columns.h"
#include "ops/conv/narrow/narrow_patches.h"

namespace trireme::ops::narrow {
namespace {

struct Generic {
  static constexpr int kWidth = 4;
  static constexpr int kSums = 4, kChannels = 2, kVectors = 2;
  static constexpr int kGradientChannels = 2, kGradientTaps = 2;
  static constexpr int kColumns = 2, kTapSums = 4;
  typedef float Vector __attribute__((vector_size(16)));

  static Vector load(const float* p) {
    Vector v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static Vector held(Vector v) { return v; }
  static void store(float* p, Vector v) { std::memcpy(p, &v, sizeof v); }
  static void store_part(float* p, Vector v, std::int64_t count) {
    std::memcpy(p, &v, static_cast<std::size_t>(count) * sizeof(float));
  }
  static Vector splat(float x) { return Vector{x, x, x, x}; }
  static Vector fma(Vector a, Vector b, Vector c) {
    for (int i = 0; i < kWidth; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
  }
  static Vector positive_part(Vector x) { return Vector{} > x ? Vector{} : x; }
};

}  // namespace

const Passes kGenericPasses{ColumnSet<Generic>::passes(), ChannelSet<Generic>::passes(), PatchSet<Generic>::passes()};

const Passes& passes(base::Isa isa) { return base::for_isa(isa, kGenericPasses, kAvx2Passes, kAvx512Passes); }

}  // namespace trireme::ops::narrow
