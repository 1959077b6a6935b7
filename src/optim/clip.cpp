#include "optim/clip.h"

#include <bit>

#include "base/cpu/simd.h"
#include "base/error.h"

namespace trireme::optim {
namespace {

// Sixteen partial sums in double, combined by halves, quarters and so on. The square of a float is exact in double, so
// only the additions round, in one order for every vector width.
struct SquaresKernel {
  static constexpr int kSums = 16;

  TRIREME_INLINE static void run(const float* values, std::int64_t count, double* result) {
    double sums[kSums] = {};
    std::int64_t i = 0;
    for (; i + kSums <= count; i += kSums)
      for (int k = 0; k < kSums; ++k) sums[k] += square(values[i + k]);
    for (int k = 0; i < count; ++i, ++k) sums[k] += square(values[i]);
    for (int half = kSums / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
    *result = sums[0];
  }
  TRIREME_INLINE static double square(float x) { return static_cast<double>(x) * static_cast<double>(x); }
};

}  // namespace

double block_sum_of_squares(const float* values, std::int64_t count) {
  base::check(count >= 0 && count <= kNormBlock, "a block of {} values, at most {} were expected", count, kNormBlock);
  double result = 0;
  base::dispatch<SquaresKernel>(values, count, &result);
  return result;
}

double tree_sum(std::span<const double> sums) {
  if (sums.empty()) return 0;
  if (sums.size() == 1) return sums[0];
  const std::size_t left = std::bit_floor(sums.size() - 1);
  return tree_sum(sums.first(left)) + tree_sum(sums.subspan(left));
}

double sum_of_squares(std::span<const float> values) {
  // The same as tree_sum over the blocks' sums, without storing them.
  const auto count = static_cast<std::int64_t>(values.size());
  if (count <= kNormBlock) return count == 0 ? 0 : block_sum_of_squares(values.data(), count);
  const auto blocks = static_cast<std::uint64_t>((count + kNormBlock - 1) / kNormBlock);
  const std::size_t left = std::bit_floor(blocks - 1) * static_cast<std::size_t>(kNormBlock);
  return sum_of_squares(values.first(left)) + sum_of_squares(values.subspan(left));
}

double clip_factor(double norm, double max_norm) {
  if (!(max_norm > 0)) base::user_error("the largest gradient norm is {}, expected a number above 0", max_norm);
  const double factor = max_norm / (norm + 1e-6);
  return factor > 1 ? 1 : factor;  // a NaN norm stays NaN, so that the run notices it
}

}  // namespace trireme::optim
