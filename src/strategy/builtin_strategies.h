// builtin_strategies(): the registry of the strategies that come with the program.
// Thread-safe.
#pragma once

#include "strategy/registry/config.h"

namespace trireme::strategy {

StrategyRegistry builtin_strategies();

}  // namespace trireme::strategy
