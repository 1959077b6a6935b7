// The all-reduce of memory that all ranks reach: each rank combines its slice of all ranks' arrays, in the order of
// ranks, and writes the result into all of them. Nothing is sent but the word that a rank is there and that it is done.
#pragma once

#include <span>

#include "comm/port.h"
#include "comm/window.h"

namespace trireme::comm {

// `data` lies in the window, at the same place on all ranks.
void window_all_reduce(Port& port, const Operation& operation, const Window& window, std::span<float> data,
                       Combine how);

}  // namespace trireme::comm
