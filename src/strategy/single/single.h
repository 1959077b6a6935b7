// single: one worker has all oars and updates its weights layer by layer, as soon as a gradient is there.
#pragma once

#include <memory>

#include "strategy/registry/config.h"

namespace trireme::strategy {

StrategyRow single_row();
std::unique_ptr<Strategy> make_single(crew::Replica& replica, Updater& updater);

}  // namespace trireme::strategy
