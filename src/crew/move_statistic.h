// move_statistic(): moves a running statistic towards the statistic of one step. Workers and servers both use it, so
// they get the same bits. Thread-safe.
#pragma once

#include <cstdint>

namespace trireme::crew {

// running = running * (1 - moved) + sums * (moved / samples), where `sums` is over `samples` samples.
void move_statistic(float* running, const float* sums, std::int64_t count, double moved, std::int64_t samples);

}  // namespace trireme::crew
