// single: one worker computes all oars and updates its weights chunk by chunk, as soon as a gradient is complete.
// The factories are thread-safe.
#pragma once

#include <memory>

#include "strategy/registry/config.h"

namespace trireme::strategy {

StrategyRow single_row();
std::unique_ptr<Strategy> make_single(crew::Replica& replica, Updater& updater);

}  // namespace trireme::strategy
