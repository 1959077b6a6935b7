// The loops of dropout, one set per instruction set. Pure functions on the caller's memory; thread-safe.
// A mask has one bit per element, in words of sixteen elements. Masks come from integer comparisons, so all sets give
// the same masks.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::dropping {

// The counters of the random numbers of a run of elements. Element i has the counter
//   start + offsets[i % period] + i / period * step
// REQUIRES: period is a multiple of sixteen.
struct Counters {
  std::uint64_t start = 0;
  const std::uint64_t* offsets = nullptr;
  std::int64_t period = 0;
  std::uint64_t step = 0;
};

struct Passes {
  // Sets mask bit i when the top 24 bits of element i's random number are at least `threshold` (below 2^24), and writes
  // dst = src * scale where the bit is set, else 0. dst may be src. Bits past `count` have no meaning.
  void (*forward)(Counters counters, std::uint64_t threshold, std::int64_t count, float scale, const float* src,
                  std::uint16_t* mask, float* dst);
  // Writes the same dst with a given mask.
  void (*apply)(const std::uint16_t* mask, std::int64_t count, float scale, const float* src, float* dst);
};

const Passes& passes(base::Isa isa);

// The single sets. REQUIRES: a CPU with that instruction set.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::dropping
