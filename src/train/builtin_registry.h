// builtin_registry(): the registry of everything that comes with the program.
// Thread-safe.
#pragma once

#include "train/experiment/registry.h"

namespace trireme::train {

Registry builtin_registry();

}  // namespace trireme::train
