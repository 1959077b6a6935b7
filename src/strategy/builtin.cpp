#include "strategy/builtin.h"

#include "strategy/all_reduce.h"
#include "strategy/groups.h"
#include "strategy/local.h"
#include "strategy/ps.h"
#include "strategy/single.h"

namespace trireme::strategy {

StrategyRegistry builtin_strategies() {
  return StrategyRegistry("strategy", {single_row(), all_reduce_row(), ps_row(), groups_row(), local_row()});
}

}  // namespace trireme::strategy
