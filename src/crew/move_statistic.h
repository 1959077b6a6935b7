// How a running statistic moves towards the one of a step; the one place where it is done, in workers and servers.
#pragma once

#include <cstdint>

namespace trireme::crew {

// running = running * (1 - moved) + sums * (moved / samples), where sums are over so many samples.
void move_statistic(float* running, const float* sums, std::int64_t count, double moved, std::int64_t samples);

}  // namespace trireme::crew
