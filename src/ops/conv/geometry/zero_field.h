// ZeroField: finds and overwrites outputs of Winograd and Toom-Cook convolutions whose whole receptive field is 0 in
// all channels. Thread-safe.
//
// A direct convolution gives exactly the bias there. The transforms leave rounding noise when the input tile has other
// values outside the field, and with a bias of 0 a following ReLU passes gradients wherever the noise is positive.
// Included by winograd_zeros.h and toom_cook_zeros.h; S is a vector of channels (see winograd_set.h).
#pragma once

#include <cstdint>

namespace trireme::ops {

template <class S>
struct ZeroField {
  using V = typename S::Vector;
  static constexpr std::int64_t kBlock = S::kWidth;

  // Whether a position is 0 in all blocks of channels, which are `step` floats apart.
  [[gnu::always_inline]] static bool zero(const float* at, std::int64_t step, std::int64_t blocks) {
    for (std::int64_t b = 0; b < blocks; ++b, at += step)
      if (S::has_nonzero(S::load(at))) return false;
    return true;
  }

  // Sets all channels of one output to the bias. NaN and infinity become NaN, as in a direct convolution with infinite
  // weights.
  static void set_output(float* to, std::int64_t step, std::int64_t blocks, const float* bias, bool relu) {
    for (std::int64_t b = 0; b < blocks; ++b, to += step) {
      const V value = bias != nullptr ? V{} + S::load(bias + b * kBlock) : V{};
      const V made = S::load(to);
      S::store(to, (relu ? S::positive_part(value) : value) + (made - made));
    }
  }
};

}  // namespace trireme::ops
