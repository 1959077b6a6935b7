// Loads several files in parallel: decompression is the slow part of opening a dataset.
#pragma once

#include <functional>
#include <vector>

namespace trireme::data {

// Runs each task once, on two threads, and returns when all have ended. Throws the first error in the order of the
// tasks, so the message does not depend on timing.
void run_load_tasks(const std::vector<std::function<void()>>& tasks);

}  // namespace trireme::data
