#include "base/cpu/machine_peaks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/cpu/simd.h"
#include "base/cpu/thread_team.h"
#include "base/system/aligned_memory.h"
#include "base/system/clock.h"

namespace trireme::base {
namespace {

constexpr double kSeconds = 0.15;          // per measurement; the best pass counts
constexpr int kLeastPasses = 8;            // even if slow: other load may occupy the machine for a while
constexpr std::int64_t kRounds = 200'000;  // about a millisecond

typedef float Vector16 __attribute__((vector_size(16)));
typedef float Vector32 __attribute__((vector_size(32)));
typedef float Vector64 __attribute__((vector_size(64)));

// Independent chains of multiply-adds in registers: enough to hide the latency, few enough not to spill. Unlike other
// kernels this one uses vectors of the instruction set's own width, because GCC keeps wider ones in memory.
template <class Vector, int kChains, bool kFused>
struct MultiplyAdds {
  static constexpr int kFloats = static_cast<int>(sizeof(Vector) / sizeof(float));
  static constexpr double kFlops = 2.0 * kFloats * kChains;  // per round

  TRIREME_INLINE static void run(std::int64_t rounds, float* sink) {
    run_chains(rounds, sink, std::make_index_sequence<kChains>());
  }

 private:
  TRIREME_INLINE static Vector multiply_add(Vector a, Vector b, Vector c) {
    if (!kFused) return a * b + c;
    Vector r;
    for (int i = 0; i < kFloats; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return r;
  }
  // Unrolled by the index sequence: GCC keeps an array that a loop indexes in memory.
  template <std::size_t... kChain>
  TRIREME_INLINE static void run_chains(std::int64_t rounds, float* sink, std::index_sequence<kChain...>) {
    Vector chain[kChains] = {(static_cast<float>(kChain) * 0.01f - Vector{})...};
    const Vector factor = 0.999f - Vector{}, term = 0.001f - Vector{};
    for (std::int64_t r = 0; r < rounds; ++r) ((chain[kChain] = multiply_add(chain[kChain], factor, term)), ...);
    Vector sum{};
    ((sum += chain[kChain]), ...);
    *sink = sum[0];
  }
};

// Returns the number of operations done. AVX-512 has 32 registers of 64 bytes, the other sets 16 of 32 or 16 bytes;
// without AVX2 there is no fused multiply-add.
double run_multiply_adds(float* sink) {
  const auto run = [sink]<class Kernel>(Kernel) {
    dispatch<Kernel>(kRounds, sink);
    return Kernel::kFlops * static_cast<double>(kRounds);
  };
  switch (active_isa()) {
    case Isa::avx512: return run(MultiplyAdds<Vector64, 16, true>());
    case Isa::avx2: return run(MultiplyAdds<Vector32, 12, true>());
    case Isa::generic: return run(MultiplyAdds<Vector16, 10, false>());
  }
  return 0;
}

struct Copy {
  TRIREME_INLINE static void run(float* to, const float* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += kLanes) store(to + i, load(from + i));
  }
};

struct Triad {
  TRIREME_INLINE static void run(float* to, const float* a, const float* b, std::int64_t count) {
    const Lanes factor = splat(3.0f);
    for (std::int64_t i = 0; i < count; i += kLanes) store(to + i, load(a + i) + factor * load(b + i));
  }
};

// The best rate in units per second over several passes on all members; each pass does `units`.
template <class Pass>
double best_rate(ThreadTeam& team, double units, const Pass& pass) {
  double best = 0;
  team.run(pass);
  const std::int64_t start = now_ns();
  for (int done = 0; done < kLeastPasses || seconds_since(start) < kSeconds; ++done) {
    const std::int64_t begin = now_ns();
    team.run(pass);
    best = std::max(best, units / seconds_since(begin));
  }
  return best;
}

// Floats in each array of a member, so that all members' arrays together far exceed the last-level cache.
std::int64_t array_floats(int members) {
  const std::int64_t cache = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
  const std::int64_t bytes = std::clamp<std::int64_t>(2 * cache, 64 << 20, 256 << 20) / members;
  return bytes / 4096 * 4096 / static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

double Peak::bytes_per_second() const { return std::max(copy_bytes_per_second, triad_bytes_per_second); }

Peak measure_peak(int threads, const std::vector<int>& cpus) {
  ThreadTeam team(threads, cpus, true);
  Peak peak;
  peak.threads = threads;
  struct alignas(64) Sink {
    float value = 0;
    double flops = 0;
  };
  std::vector<Sink> sinks(static_cast<std::size_t>(threads));
  const auto multiply = [&](int member) {
    Sink& sink = sinks[static_cast<std::size_t>(member)];
    sink.flops = run_multiply_adds(&sink.value);
  };
  team.run(multiply);
  peak.flops_per_second = best_rate(team, sinks[0].flops * threads, multiply);

  const std::int64_t count = array_floats(threads);
  const double bytes = static_cast<double>(count) * sizeof(float) * threads;
  using Arrays = std::array<AlignedMemory, 3>;
  std::vector<Arrays> memory(static_cast<std::size_t>(threads));
  const auto floats = [](const AlignedMemory& array) { return reinterpret_cast<float*>(array.get()); };
  team.run([&](int member) {  // first touched by the thread that uses it
    for (AlignedMemory& array : memory[static_cast<std::size_t>(member)]) {
      array = allocate_aligned(static_cast<std::size_t>(count) * sizeof(float));
      std::fill_n(floats(array), count, 1.0f);
    }
  });
  peak.copy_bytes_per_second = best_rate(team, 2 * bytes, [&](int member) {
    const Arrays& arrays = memory[static_cast<std::size_t>(member)];
    dispatch<Copy>(floats(arrays[0]), floats(arrays[1]), count);
  });
  peak.triad_bytes_per_second = best_rate(team, 3 * bytes, [&](int member) {
    const Arrays& arrays = memory[static_cast<std::size_t>(member)];
    dispatch<Triad>(floats(arrays[0]), floats(arrays[1]), floats(arrays[2]), count);
  });
  return peak;
}

double least_seconds(const Peak& peak, double flops, double bytes) {
  return peak.threads * std::max(flops / peak.flops_per_second, bytes / peak.bytes_per_second());
}

}  // namespace trireme::base
