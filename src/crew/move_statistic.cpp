#include "crew/move_statistic.h"

#include "base/cpu/simd.h"

namespace trireme::crew {
namespace {

struct MoveStatistic {
  TRIREME_INLINE static void run(float* running, const float* sums, std::int64_t count, float keep, float scale) {
    for (std::int64_t i = 0; i < count; ++i) running[i] = running[i] * keep + sums[i] * scale;
  }
};

}  // namespace

void move_statistic(float* running, const float* sums, std::int64_t count, double moved, std::int64_t samples) {
  base::dispatch<MoveStatistic>(running, sums, count, static_cast<float>(1 - moved),
                                static_cast<float>(moved / static_cast<double>(samples)));
}

}  // namespace trireme::crew
