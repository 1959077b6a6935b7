// Registry: everything that the program knows by name. main() builds one and passes it down; a program of a user's own
// adds rows to it first. Complete before threads read it, and unchanged afterwards.
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
