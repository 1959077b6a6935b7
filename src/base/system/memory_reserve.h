// A memory reserve for the end of a program that has run out of memory: it must still print the error, and destructors
// that allocate (of a JSON value) must not terminate the program.
#pragma once

namespace trireme::base {

// Allocates the reserve; the first allocation that fails releases it. Call once, at program start.
void keep_memory_reserve();

}  // namespace trireme::base
