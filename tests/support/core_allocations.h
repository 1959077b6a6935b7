// Counting allocations: how often operator new is called between start and stop, on all threads, outside oneDNN. A
// program that uses it includes support/core_counted_new.h in one file.
#pragma once

#include <cstdint>

namespace trireme::support {

void start_counting_allocations();
std::int64_t stop_counting_allocations();

}  // namespace trireme::support
