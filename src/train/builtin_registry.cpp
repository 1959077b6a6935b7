#include "train/builtin_registry.h"

#include "comm/builtin_transports.h"
#include "strategy/builtin_strategies.h"
#include "train/sinks/sinks.h"

namespace trireme::train {

Registry builtin_registry() {
  return {.ops = ops::builtin_ops(),
          .models = models::builtin_models(),
          .readers = data::builtin_readers(),
          .optimizers = optim::builtin_optimizers(),
          .strategies = strategy::builtin_strategies(),
          .transports = comm::builtin_transports(),
          .sinks = builtin_sinks()};
}

}  // namespace trireme::train
