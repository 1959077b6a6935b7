#include "ops/loss/l2_penalty.h"

#include <algorithm>

#include "base/cpu/simd.h"
#include "base/oar_tree.h"

namespace trireme::ops {
namespace {

constexpr std::int64_t kBlock = 4096;

// The sum of squares of one block in sixteen lanes, combined in the order of base/cpu/simd.h. The square of a float is
// exact in double.
struct SquareSum {
  TRIREME_INLINE static void run(const float* weights, std::int64_t count, double* result) {
    double sums[base::kLanes] = {};
    std::int64_t i = 0;
    for (; count - i >= base::kLanes; i += base::kLanes)
      for (int lane = 0; lane < base::kLanes; ++lane) {
        const double w = static_cast<double>(weights[i + lane]);
        sums[lane] += w * w;
      }
    for (int lane = 0; i + lane < count; ++lane) {
      const double w = static_cast<double>(weights[i + lane]);
      sums[lane] += w * w;
    }
    for (int half = base::kLanes / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    *result = sums[0];
  }
};

// The sum over the blocks [begin, end) of `count` weights, added along the oar tree.
double tree_sum(const float* weights, std::int64_t count, std::int64_t begin, std::int64_t end) {
  if (end - begin == 1) {
    double sum = 0;
    base::dispatch<SquareSum>(weights + begin * kBlock, std::min(kBlock, count - begin * kBlock), &sum);
    return sum;
  }
  const std::int64_t middle = begin + base::oar_split(static_cast<int>(end - begin));
  return tree_sum(weights, count, begin, middle) + tree_sum(weights, count, middle, end);
}

}  // namespace

double l2_sum(const float* weights, std::int64_t count) {
  return count <= 0 ? 0 : tree_sum(weights, count, 0, (count + kBlock - 1) / kBlock);
}

}  // namespace trireme::ops
