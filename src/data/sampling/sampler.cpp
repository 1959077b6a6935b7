#include "data/sampling/sampler.h"

#include <algorithm>
#include <bit>

#include "base/cpu/simd.h"
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

// One pass of the Feistel network over several values; the compiler vectorizes the loop.
struct FeistelRounds {
  TRIREME_INLINE static void run(const Permutation* p, std::int64_t* values, std::int64_t count) {
    const auto hash = [](std::uint64_t key, std::uint64_t half) {
      return base::mix64(key + (half + 1) * base::kGolden);
    };
    const std::uint64_t low_mask = p->low_mask_, high_mask = p->high_mask_;
    const int low_bits = p->low_bits_;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::uint64_t>(values[i]);
      std::uint64_t low = value & low_mask, high = value >> low_bits;
#pragma GCC unroll 12
      for (std::size_t round = 0; round < Permutation::kRounds; round += 2) {
        low ^= hash(p->keys_[round], high) & low_mask;
        high ^= hash(p->keys_[round + 1], low) & high_mask;
      }
      values[i] = static_cast<std::int64_t>(high << low_bits | low);
    }
  }
};

std::int64_t Permutation::operator()(std::int64_t position) const {
  std::int64_t element;
  fill(position, {&element, 1});
  return element;
}

void Permutation::fill(std::int64_t first, std::span<std::int64_t> elements) const {
  const auto count = static_cast<std::int64_t>(elements.size());
  base::check(first >= 0 && first + count <= size_, "positions {} ... {} of {}", first, first + count, size_);
  for (std::int64_t i = 0; i < count; ++i) elements[static_cast<std::size_t>(i)] = first + i;
  if (identity_) return;
  if (count > 1)
    base::dispatch<FeistelRounds>(this, elements.data(), count);
  else
    FeistelRounds::run(this, elements.data(), count);
  for (std::int64_t& element : elements)
    while (element >= size_) FeistelRounds::run(this, &element, std::int64_t{1});
}

Permutation epoch_order(std::int64_t n, std::uint64_t seed, std::uint64_t epoch, bool shuffle) {
  if (!shuffle) return Permutation(n);
  return Permutation(n, base::CounterRng(seed, base::Purpose::shuffle, epoch));
}

}  // namespace trireme::data
