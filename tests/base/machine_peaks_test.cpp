// The machine's peaks are measured, and bound the time of a kernel.
#include "base/cpu/machine_peaks.h"

#include <gtest/gtest.h>

namespace trireme::base {
namespace {

TEST(Peak, IsMeasuredAndBoundsTime) {
  for (const int threads : {1, 2}) {
    const Peak peak = measure_peak(threads, {});
    EXPECT_EQ(peak.threads, threads);
    EXPECT_GT(peak.flops_per_second, 0);
    EXPECT_GT(peak.copy_bytes_per_second, 0);
    EXPECT_GT(peak.triad_bytes_per_second, 0);
  }
  const Peak peak{2, 100, 10, 20};
  EXPECT_EQ(least_seconds(peak, 100, 0), 2) << "one of two threads does half of 100 a second";
  EXPECT_EQ(least_seconds(peak, 0, 40), 4) << "the better of copy and triad";
  EXPECT_EQ(least_seconds(peak, 100, 40), 4);
}

}  // namespace
}  // namespace trireme::base
