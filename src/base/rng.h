// CounterRng: counter-based random numbers (SplitMix64 evaluated at a position instead of in sequence). Every random
// number is a pure function of (seed, purpose, epoch, sample index, position); it does not depend on memory order,
// threads or ranks. Immutable; thread-safe.
#pragma once

#include <cstdint>

namespace trireme::base {

// The purpose of a random stream; streams of different purposes share no numbers.
enum class Purpose : std::uint64_t {
  shuffle = 1,
  augment = 2,
  dropout = 3,
  init = 4,
  synthetic = 5,
  split = 6,
  probe = 7
};

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ull;

constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

class CounterRng {
 public:
  constexpr CounterRng(std::uint64_t seed, Purpose purpose, std::uint64_t epoch = 0, std::uint64_t index = 0)
      : key_(mix64(mix64(mix64(mix64(seed + kGolden) + static_cast<std::uint64_t>(purpose) * kGolden) +
                         (epoch + 1) * kGolden) +
                   (index + 1) * kGolden)) {}

  constexpr std::uint64_t key() const { return key_; }
  // 64 random bits at a position.
  constexpr std::uint64_t bits(std::uint64_t position) const { return mix64(key_ + (position + 1) * kGolden); }
  // Uniform in [0, 1), 24 bits.
  constexpr float uniform(std::uint64_t position) const {
    return static_cast<float>(bits(position) >> 40) * (1.0f / 16777216.0f);
  }
  // Uniform integer in [0, n), n > 0; the bias is below n / 2^64.
  constexpr std::uint64_t below(std::uint64_t position, std::uint64_t n) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(bits(position)) * n) >> 64);
  }
  // Standard normal (Box-Muller on positions 2p and 2p+1, own logarithm and cosine).
  float normal(std::uint64_t position) const;

 private:
  std::uint64_t key_;
};

}  // namespace trireme::base
