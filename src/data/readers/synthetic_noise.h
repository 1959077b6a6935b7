// Noise for synthetic data: approximately normal, mean 0, computed from integers so that its bits are the same on every
// machine. Pure functions; thread-safe.
#pragma once

#include <cstdint>

#include "base/rng.h"

namespace trireme::data {

// Adds noise of standard deviation `deviation` to count values, from positions first, first + 1, ... of the stream.
// Each value is the sum of four random bytes (two values per 64 bits), which is approximately normal.
inline void add_noise(float* values, std::int64_t count, const base::CounterRng& rng, std::uint64_t first,
                      float deviation) {
  const float scale = deviation / 147.8005413f;  // sqrt(4 * (256^2 - 1) / 12): the deviation of the sum of four bytes
  const auto pair = [&](std::int64_t i) {
    std::uint64_t bits = rng.bits(first + static_cast<std::uint64_t>(i / 2));
    bits = (bits & 0x00ff00ff00ff00ffull) + ((bits >> 8) & 0x00ff00ff00ff00ffull);
    return (bits & 0x0000ffff0000ffffull) + ((bits >> 16) & 0x0000ffff0000ffffull);
  };
  const auto value = [&](std::uint64_t half) {
    return static_cast<float>(static_cast<std::int32_t>(half) - 510) * scale;
  };
  std::int64_t i = 0;
  for (; i + 2 <= count; i += 2) {
    const std::uint64_t both = pair(i);
    values[i] += value(both & 0xffffffffull);
    values[i + 1] += value(both >> 32);
  }
  if (i < count) values[i] += value(pair(i) & 0xffffffffull);
}

}  // namespace trireme::data
