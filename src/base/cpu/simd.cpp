#include "base/cpu/simd.h"

#include <immintrin.h>

#include <array>
#include <atomic>
#include <string>

#include "base/error.h"
#include "base/text/nearest.h"

namespace trireme::base {
namespace {

Isa detect() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
  return Isa::generic;
}

// Process-wide, because the instruction set is a property of the machine. Set once, before computing starts.
std::atomic<Isa>& active() {
  static std::atomic<Isa> isa{best_isa()};
  return isa;
}

}  // namespace

Isa best_isa() {
  static const Isa best = detect();
  return best;
}

Isa active_isa() { return active().load(std::memory_order_relaxed); }

void set_active_isa(Isa isa) {
  if (isa > best_isa())
    user_error("this CPU has no {}; its best instruction set is {}", isa_name(isa), isa_name(best_isa()));
  active().store(isa);
}

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::generic: return "generic";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  return "?";
}

Isa parse_isa(std::string_view name) {
  if (name == "auto") return best_isa();
  for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512})
    if (name == isa_name(isa)) return isa;
  const std::array<std::string, 4> names{"auto", "avx512", "avx2", "generic"};
  user_error("{}", unknown_name("instruction set", name, names));
}

void set_flush_to_zero() {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
}

}  // namespace trireme::base
