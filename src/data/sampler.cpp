#include "data/sampler.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace trireme::data {

Permutation::Permutation(std::int64_t n) : size_(n), identity_(true) {
  base::check(n >= 0, "a permutation of {} elements", n);
}

Permutation::Permutation(std::int64_t n, const base::CounterRng& rng) : size_(n), identity_(n <= 1) {
  base::check(n >= 0, "a permutation of {} elements", n);
  if (identity_) return;
  const int bits = std::max<int>(kMinBits, std::bit_width(static_cast<std::uint64_t>(n - 1)));
  low_bits_ = (bits + 1) / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
  for (std::size_t round = 0; round < kRounds; ++round) keys_[round] = rng.bits(round);
}

std::int64_t Permutation::operator()(std::int64_t position) const {
  base::check(position >= 0 && position < size_, "position {} of {}", position, size_);
  if (identity_) return position;
  const auto hash = [](std::uint64_t key, std::uint64_t half) { return base::mix64(key + (half + 1) * base::kGolden); };
  auto value = static_cast<std::uint64_t>(position);
  do {
    std::uint64_t low = value & low_mask_, high = value >> low_bits_;
    for (std::size_t round = 0; round < kRounds; round += 2) {
      low ^= hash(keys_[round], high) & low_mask_;
      high ^= hash(keys_[round + 1], low) & high_mask_;
    }
    value = high << low_bits_ | low;
  } while (value >= static_cast<std::uint64_t>(size_));
  return static_cast<std::int64_t>(value);
}

Permutation epoch_order(std::int64_t n, std::uint64_t seed, std::uint64_t epoch, bool shuffle) {
  if (!shuffle) return Permutation(n);
  return Permutation(n, base::CounterRng(seed, base::Purpose::shuffle, epoch));
}

}  // namespace trireme::data
