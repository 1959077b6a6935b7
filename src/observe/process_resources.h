// ProcessSampler: what this process has used so far. One thread at a time.
#pragma once

#include "observe/kernel_file.h"

namespace trireme::observe {

// kNotTold where the system does not tell.
struct ProcessSample {
  double cpu_user_seconds = 0, cpu_system_seconds = 0;
  double resident_bytes = 0, shared_bytes = 0;
  double threads = 0;
  double voluntary_switches = 0, involuntary_switches = 0;
  double minor_faults = 0, major_faults = 0;
  double disk_read_bytes = 0, disk_written_bytes = 0;
};

class ProcessSampler {
 public:
  ProcessSampler();
  ProcessSample sample();

 private:
  KernelFile memory_, disk_;
};

}  // namespace trireme::observe
