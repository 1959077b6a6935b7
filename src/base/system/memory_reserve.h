// A reserve of memory for the end of a program that has run out of it: the error must still be told, and destructors
// that allocate (a JSON value's does) must not terminate the program.
#pragma once

namespace trireme::base {

// Sets the reserve aside; the first allocation that fails releases it. Called once, when the program starts.
void keep_memory_reserve();

}  // namespace trireme::base
