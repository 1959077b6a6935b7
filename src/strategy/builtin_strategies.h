// The strategies that the program comes with.
#pragma once

#include "strategy/registry/config.h"

namespace trireme::strategy {

StrategyRegistry builtin_strategies();

}  // namespace trireme::strategy
