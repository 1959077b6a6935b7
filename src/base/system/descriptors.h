// File descriptors: how many this process may have.
#pragma once

#include <cstddef>

namespace trireme::base {

std::size_t descriptor_limit();
// To what the system allows at most: many shells start programs with 1024 or fewer. Children inherit it.
void raise_descriptor_limit();

}  // namespace trireme::base
