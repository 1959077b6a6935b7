// The passes of dense layers over plain memory, one set per instruction set; all sets give the same bits. Thread-safe.
//
// Weights are rows of K floats, one row per output. Forward computes dot products of rows (dense_dots.h); both
// gradients are sums of rows times factors (dense_sums.h). Each reads the weights, or writes their gradient, once.
// `panel` is 64-byte-aligned scratch of dots_panel_floats() or sums_panel_floats() for data copied into the order of
// use.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::dense_passes {

inline constexpr std::int64_t kLanes = base::kLanes;
inline constexpr std::int64_t kDotBlock = 1024;          // determines the bits: see dense_dots.h
inline constexpr std::int64_t kMostRows = 96;            // samples at a time in dots
inline constexpr std::int64_t kPanelFloats = 96 * 1024;  // stays in an L2 cache while the weights pass through it
inline constexpr std::int64_t kCopyFrom = 64;            // the fewest outputs for which copying src pays off
static_assert(kPanelFloats >= kMostRows * kDotBlock);
// The largest block of terms, which stays in the L2 cache, and the largest tiles of sums of any instruction set.
inline constexpr std::int64_t kSumBlock = 1024, kMostTerms = 64;
inline constexpr std::int64_t kCopyForTiles = 4;      // the fewest tiles of results for which copying terms pays off
inline constexpr std::int64_t kStreamFrom = 8 << 20;  // floats of results that no longer stay in a cache
inline constexpr int kMostSumRows = 16, kMostSumColumns = 2;

constexpr std::int64_t round_up(std::int64_t count, std::int64_t to = kLanes) { return (count + to - 1) / to * to; }

// dst[m][n] = sum over k of src[m][k] weights[n][k], plus bias[n], then ReLU.
struct Dots {
  const float* src;
  const float* weights;
  const float* bias;  // or null
  float* dst;
  std::int64_t m, n, k;
  bool relu;
  float* panel;
};

// results[r][k] = sum over t of factors[r, t] terms[t][k], in the order of t.
struct Sums {
  const float* factors;
  std::int64_t factor_of_result, factor_of_term;  // strides of the factors
  const float* terms;
  float* results;
  std::int64_t result_count, term_count, k;
  float* panel;
};

struct Passes {
  void (*dots)(const Dots&);
  void (*sums)(const Sums&);
};

const Passes& passes(base::Isa isa);

extern const Passes kGeneric, kAvx2, kAvx512;

// The floats of `panel` for dots() with m samples, and for sums() with `terms` terms; k inputs each.
std::int64_t dots_panel_floats(std::int64_t m, std::int64_t k);
std::int64_t sums_panel_floats(std::int64_t terms, std::int64_t k);

}  // namespace trireme::ops::dense_passes
