// The loops of dropout, one set per instruction set. A mask is one bit per element, in words of sixteen elements; what
// decides is whole numbers, so every set gives the same. Pure functions on the caller's memory; any thread.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::dropping {

// Where the random numbers of a run of elements come from: element i has the counter
// start + offsets[i % period] + i / period * step, and period is a multiple of sixteen.
struct Counters {
  std::uint64_t start = 0;
  const std::uint64_t* offsets = nullptr;
  std::int64_t period = 0;
  std::uint64_t step = 0;
};

struct Passes {
  // Bit i: whether the top 24 bits of the random number at counter i reach `threshold`, which is below 2^24. Also
  // dst = src * scale where it is set, else 0; dst may be src. Bits past `count` have no meaning.
  void (*forward)(Counters counters, std::uint64_t threshold, std::int64_t count, float scale, const float* src,
                  std::uint16_t* mask, float* dst);
  // The same dst for a mask that is there.
  void (*apply)(const std::uint16_t* mask, std::int64_t count, float scale, const float* src, float* dst);
};

const Passes& passes(base::Isa isa);

// The sets by themselves: each may run only on a CPU that has it.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::dropping
