// Registry: everything that the program knows by name: ops, models, readers, optimizers, strategies, transports, sinks.
// Immutable once threads read it, so thread-safe from then on.
//
// main() builds one and passes it down; a user's own program adds rows to it first.
#pragma once

#include "comm/transport/transport.h"
#include "data/open_data.h"
#include "models/zoo.h"
#include "ops/core/op_registry.h"
#include "optim/optimizer.h"
#include "strategy/registry/config.h"
#include "train/recorder/recorder.h"

namespace trireme::train {

struct Registry {
  ops::OpRegistry ops;
  models::ModelRegistry models;
  data::Readers readers;
  optim::OptimizerRegistry optimizers;
  strategy::StrategyRegistry strategies;
  comm::Transports transports;
  SinkRegistry sinks;
};

}  // namespace trireme::train
