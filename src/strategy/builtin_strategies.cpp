#include "strategy/builtin_strategies.h"

#include "strategy/all_reduce/all_reduce.h"
#include "strategy/groups/groups.h"
#include "strategy/local/local.h"
#include "strategy/ps/ps.h"
#include "strategy/single/single.h"

namespace trireme::strategy {

StrategyRegistry builtin_strategies() {
  return StrategyRegistry("strategy", {single_row(), all_reduce_row(), ps_row(), groups_row(), local_row()});
}

}  // namespace trireme::strategy
