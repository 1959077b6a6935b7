// The name of a thread, as top -H, gdb and /proc show it. Any thread may call it for itself.
#pragma once

#include <string>

namespace trireme::base {

// Linux keeps the first 15 bytes.
void name_this_thread(const std::string& name);

}  // namespace trireme::base
