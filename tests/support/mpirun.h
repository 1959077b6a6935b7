// The environment of tests that start Open MPI's mpirun.
#pragma once

#include <string>
#include <vector>

namespace trireme::test {

// Root may start jobs. Sanitizers judge us, not what Open MPI never frees or how it takes its locks.
inline std::vector<std::string> mpirun_environment() {
  return {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "ASAN_OPTIONS=detect_leaks=0",
          "TSAN_OPTIONS=halt_on_error=1:detect_deadlocks=0:ignore_noninstrumented_modules=1"};
}

}  // namespace trireme::test
