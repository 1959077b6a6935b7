// The limit of file descriptors of this process.
#pragma once

#include <cstddef>

namespace trireme::base {

std::size_t descriptor_limit();
// Raises it to the maximum that the system allows (many shells set 1024 or fewer). Children inherit it.
void raise_descriptor_limit();

}  // namespace trireme::base
