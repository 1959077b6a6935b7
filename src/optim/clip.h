// Gradient norms for clipping: sums of squares in double over fixed blocks, added along a fixed tree. Thread-safe.
//
// Blocks are counted from the start of the span. Threads and ranks may therefore share out the blocks, and the sum has
// the same bits as sum_of_squares.
#pragma once

#include <cstdint>
#include <span>

namespace trireme::optim {

inline constexpr std::int64_t kNormBlock = 4096;

// The sum of squares of one block. `count`: kNormBlock, or less for the last block.
[[nodiscard]] double block_sum_of_squares(const float* values, std::int64_t count);
// Adds the blocks' sums along a tree: n > 1 sums split at the largest power of two below n, value left + right. Without
// sums: 0.
[[nodiscard]] double tree_sum(std::span<const double> sums);
[[nodiscard]] double sum_of_squares(std::span<const float> values);

// The factor that brings a gradient of this norm down to max_norm: min(1, max_norm / (norm + 1e-6)).
[[nodiscard]] double clip_factor(double norm, double max_norm);

}  // namespace trireme::optim
