// The loop shared by all update rules: one pass over weights, gradient and state.
//
// A Rule is a small struct of float constants, copied into the kernel, with
//   static constexpr int kSlots
//   void step(float& weight, float gradient, float* state) const   (always inlined)
// Each element is computed independently with + - * / sqrt and explicit fma, which round the same at every vector
// width. So the compiler vectorizes the loop per instruction set, and any split of a range gives the same bits. (The
// same loop over base::Lanes reached a third of the speed: GCC 12 moves such vectors through the stack.)
// A rule must map zero weight, gradient and state to zero, so that padding stays zero.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/cpu/simd.h"
#include "base/error.h"

namespace trireme::optim {

TRIREME_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TRIREME_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }

template <class Rule>
struct UpdateKernel {
  using Pointers = std::array<float*, 2>;  // unused ones are null

  // __restrict: the buffers never overlap, so the compiler can vectorize the loop.
  TRIREME_INLINE static void run(float* weights, const float* gradient, Pointers state, std::int64_t count, Rule rule) {
    static_assert(Rule::kSlots <= 2);
    float* __restrict w = weights;
    const float* __restrict g = gradient;
    float* __restrict first = state[0];
    float* __restrict second = state[1];
    for (std::int64_t i = 0; i < count; ++i) {
      float s[2] = {};
      if constexpr (Rule::kSlots > 0) s[0] = first[i];
      if constexpr (Rule::kSlots > 1) s[1] = second[i];
      float weight = w[i];
      rule.step(weight, g[i], s);
      w[i] = weight;
      if constexpr (Rule::kSlots > 0) first[i] = s[0];
      if constexpr (Rule::kSlots > 1) second[i] = s[1];
    }
  }
};

template <class Rule>
void run_update(const Rule& rule, float* weights, const float* gradient, std::span<float* const> state,
                std::int64_t count) {
  base::check(state.size() == Rule::kSlots, "an update rule with {} state slots was given {}", Rule::kSlots + 0,
              state.size());
  typename UpdateKernel<Rule>::Pointers pointers{};
  for (std::size_t k = 0; k < Rule::kSlots; ++k) pointers[k] = state[k];
  base::dispatch<UpdateKernel<Rule>>(weights, gradient, pointers, count, rule);
}

}  // namespace trireme::optim
