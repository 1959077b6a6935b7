// Measures the machine's peaks: multiply-adds per second from registers, and memory bandwidth in bytes per second.
#pragma once

#include <vector>

namespace trireme::base {

struct Peak {
  int threads = 1;
  double flops_per_second = 0;                                   // float32; a multiply-add counts as two
  double copy_bytes_per_second = 0, triad_bytes_per_second = 0;  // read plus written, as in STREAM
  double bytes_per_second() const;                               // the better of the two
};

// Takes about a second. `cpus`: for pinning, as in ThreadTeam.
Peak measure_peak(int threads, const std::vector<int>& cpus);

// The least seconds in which one of the peak's threads can do this work while all of them are busy.
double least_seconds(const Peak& peak, double flops, double bytes);

}  // namespace trireme::base
