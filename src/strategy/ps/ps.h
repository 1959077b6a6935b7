// ps: parameter servers hold the weights, cut into shards; workers push gradients and get weights back.
// The factories are thread-safe. The servers' side is in strategy/server/server.h.
#pragma once

#include <memory>

#include "strategy/registry/config.h"
#include "strategy/server/ps_options.h"

namespace trireme::strategy {

std::unique_ptr<Strategy> make_ps(const WorkerContext& worker, const PsOptions& options);
StrategyRow ps_row();

}  // namespace trireme::strategy
