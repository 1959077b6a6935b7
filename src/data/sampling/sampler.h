// Sampler: the order of samples in an epoch, as a permutation that is computed on demand instead of stored. The sample
// at a position depends on (seed, epoch, size) alone, so every rank can compute any position. Immutable; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/rng.h"

namespace trireme::data {

// A permutation of [0, n): a Feistel network over a power of two not below n. A keyed hash mixes the two halves of the
// bits into each other in turn, which is a bijection for any hash. A result outside [0, n) goes through the network
// again until it falls inside (cycle walking; below two passes on average, more for very small sets). O(1) memory.
class Permutation {
 public:
  // The identity on [0, n).
  explicit Permutation(std::int64_t n);
  // Keyed by the random stream.
  Permutation(std::int64_t n, const base::CounterRng& rng);

  std::int64_t size() const { return size_; }
  // The element at 0 <= position < size().
  std::int64_t operator()(std::int64_t position) const;
  // The elements at positions first, first + 1, ...: equal to single calls, several at a time.
  void fill(std::int64_t first, std::span<std::int64_t> elements) const;

 private:
  friend struct FeistelRounds;
  // With fewer bits the orders of a small set are not equally likely (the test measures it: 4 bits fail at any number
  // of rounds).
  static constexpr int kMinBits = 8;
  static constexpr int kRounds = 12;

  std::int64_t size_;
  bool identity_;
  int low_bits_ = 0;
  std::uint64_t low_mask_ = 0, high_mask_ = 0;
  std::array<std::uint64_t, kRounds> keys_{};
};

// The order of n samples in an epoch; the identity when they are not shuffled.
Permutation epoch_order(std::int64_t n, std::uint64_t seed, std::uint64_t epoch, bool shuffle);

}  // namespace trireme::data
