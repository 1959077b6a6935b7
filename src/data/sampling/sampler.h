// Sampler: the order of samples in an epoch, as a permutation that is computed at a position instead of stored. Any
// rank can ask for any position; the answer depends on (seed, epoch, size) alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/rng.h"

namespace trireme::data {

// A permutation of [0, n): a Feistel network over a power of two not below n. Its two halves of the bits are mixed into
// each other in turn by a keyed hash, which is a bijection whatever the hash is; a result that falls outside [0, n) is
// put through again until it falls inside (cycle walking; below twice on average, more for very small sets). O(1)
// memory.
class Permutation {
 public:
  // The identity on [0, n).
  explicit Permutation(std::int64_t n);
  // Keyed by the stream of random numbers.
  Permutation(std::int64_t n, const base::CounterRng& rng);

  std::int64_t size() const { return size_; }
  // The element at 0 <= position < size().
  std::int64_t operator()(std::int64_t position) const;
  // Those at positions first, first + 1, ...: the same, several at a time.
  void fill(std::int64_t first, std::span<std::int64_t> elements) const;

 private:
  friend struct FeistelRounds;
  // On fewer bits the orders of a small set are not equally likely (the test measures it: 4 bits fail at any number of
  // rounds).
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
