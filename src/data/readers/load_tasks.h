// Loads several files at once: unpacking is the slow part of opening a dataset.
#pragma once

#include <functional>
#include <vector>

namespace trireme::data {

// Runs the tasks on two threads, each task once; returns when all have ended. The first error in the order of the tasks
// is thrown, so the message does not depend on timing.
void run_load_tasks(const std::vector<std::function<void()>>& tasks);

}  // namespace trireme::data
