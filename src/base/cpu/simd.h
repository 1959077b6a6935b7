// Lanes: vectors of sixteen floats, with the instruction set chosen at run time.
//
// Kernels are written once over Lanes. The compiler maps Lanes to one zmm, two ymm or four xmm registers. Lane i holds
// the same value in each case, and lanes are combined in one fixed order, so the bits do not depend on the instruction
// set. A kernel is a struct with a static, always-inlined run(); dispatch<Kernel>(...) calls the copy for the active
// instruction set. Multiply-adds are written with fma(); the compiler never contracts them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace trireme::base {

enum class Isa { generic, avx2, avx512 };

// The best instruction set of this CPU, and the one in use (the best, unless set lower before computing starts).
Isa best_isa();
Isa active_isa();
void set_active_isa(Isa isa);
std::string_view isa_name(Isa isa);
Isa parse_isa(std::string_view name);  // "auto", "avx512", "avx2", "generic"; else a user error

// Selects the variant for this instruction set.
template <class T>
const T& for_isa(Isa isa, const T& generic, const T& avx2, const T& avx512) {
  return isa == Isa::avx512 ? avx512 : isa == Isa::avx2 ? avx2 : generic;
}

// Flushes denormals to zero. Every computing thread calls this once.
void set_flush_to_zero();

inline constexpr int kLanes = 16;
typedef float Lanes __attribute__((vector_size(64)));
typedef std::int32_t LanesInt __attribute__((vector_size(64)));
typedef std::uint32_t LanesUnsigned __attribute__((vector_size(64)));

#define TRIREME_INLINE [[gnu::always_inline]] inline  // an attribute cannot be abbreviated otherwise

TRIREME_INLINE Lanes splat(float x) { return x - Lanes{}; }
TRIREME_INLINE Lanes load(const float* p) {
  Lanes v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
TRIREME_INLINE void store(float* p, Lanes v) { std::memcpy(p, &v, sizeof v); }
TRIREME_INLINE Lanes load_part(const float* p, int count) {
  Lanes v{};
  std::memcpy(&v, p, static_cast<std::size_t>(count) * sizeof(float));
  return v;
}
TRIREME_INLINE void store_part(float* p, Lanes v, int count) {
  std::memcpy(p, &v, static_cast<std::size_t>(count) * sizeof(float));
}
TRIREME_INLINE Lanes fma(Lanes a, Lanes b, Lanes c) {
  Lanes r;
  for (int i = 0; i < kLanes; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
}
TRIREME_INLINE Lanes max(Lanes a, Lanes b) { return a > b ? a : b; }
TRIREME_INLINE Lanes min(Lanes a, Lanes b) { return a < b ? a : b; }
// The fixed order of combining lanes: halves, quarters, eighths, pairs.
TRIREME_INLINE float sum(Lanes v) {
  float s[kLanes];
  store(s, v);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) s[i] += s[i + half];
  return s[0];
}

namespace simd_detail {
template <class Kernel, class... A>
[[gnu::target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"), gnu::noinline]] void run_avx512(A... a) {
  Kernel::run(a...);
}
template <class Kernel, class... A>
[[gnu::target("avx2,fma"), gnu::noinline]] void run_avx2(A... a) {
  Kernel::run(a...);
}
template <class Kernel, class... A>
[[gnu::noinline]] void run_generic(A... a) {
  Kernel::run(a...);
}
}  // namespace simd_detail

template <class Kernel, class... A>
void dispatch(A... a) {
  switch (active_isa()) {
    case Isa::avx512: return simd_detail::run_avx512<Kernel, A...>(a...);
    case Isa::avx2: return simd_detail::run_avx2<Kernel, A...>(a...);
    case Isa::generic: return simd_detail::run_generic<Kernel, A...>(a...);
  }
}

}  // namespace trireme::base
