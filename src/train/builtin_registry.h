// What the program comes with, by name.
#pragma once

#include "train/experiment/registry.h"

namespace trireme::train {

Registry builtin_registry();

}  // namespace trireme::train
