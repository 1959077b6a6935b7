// Experiment: what a run's settings mean, resolved: data, network, numbers. Shared by train, eval and predict.
#pragma once

#include <cstdint>
#include <string>

#include "base/cpu/cores.h"
#include "base/text/options.h"
#include "crew/crew.h"
#include "data/dataset/dataset.h"
#include "data/loading/loader.h"
#include "data/sampling/distribution.h"
#include "data/stages/normalize.h"
#include "graph/network.h"
#include "train/experiment/registry.h"

namespace trireme::train {

struct Experiment {
  data::DatasetPtr train;       // augmented, normalised; without the validation share
  data::DatasetPtr validation;  // null: the test set serves
  data::DatasetPtr test;
  data::DistributionOptions distribution;
  data::Normalization normalization;  // computed from the training set, or a saved run's
  graph::Network network{""};
  std::int64_t batch = 0;
  int oars = 1;
  int threads = 1;
  std::int64_t steps_per_epoch = 0;
  std::int64_t total_steps = 0;
  bool drop_last = false;
  std::uint64_t seed = 0;
  base::CorePlan cores;
  crew::CrewOptions crew_options;
  std::vector<std::string> notes;  // sentences for the user: better oar counts, warnings
};

// The workers of a run, and those that share this host's cores with this one.
struct HostNeighbours {
  int workers = 1;
  int here = 1, index = 0;  // workers on this host, and which of them this is
};

// How its batches are loaded.
data::LoaderOptions loader_options(const Experiment& experiment);

// A hash over a few samples of each set, their number and their targets: the same data gives the same.
std::string data_hash(const Experiment& experiment);

// A wrong file is a user error.
std::shared_ptr<const ops::KernelTable> read_kernel_table(const std::string& file);

// Reads the dataset and builds the network. All mistakes in the settings are user errors, found before anything is
// written. `known`: the normalisation of a run that these settings come from, so that other data is seen as the run saw
// its own.
Experiment resolve(const Registry& registry, const base::Settings& settings, const data::Normalization* known = nullptr,
                   const HostNeighbours& neighbours = {});

}  // namespace trireme::train
