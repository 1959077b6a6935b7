// Experiment: the settings of a run, resolved to datasets, network and numbers. Used by train, eval and predict.
// Immutable after resolve(); the functions have one caller at a time.
#pragma once

#include <cstdint>
#include <string>

#include "base/cpu/cores.h"
#include "base/text/options.h"
#include "crew/crew.h"
#include "data/dataset/dataset.h"
#include "data/dataset/target_scale.h"
#include "data/loading/loader.h"
#include "data/open_data.h"
#include "data/sampling/distribution.h"
#include "data/stages/normalize.h"
#include "graph/network.h"
#include "train/experiment/model_choice.h"
#include "train/experiment/registry.h"
#include "train/experiment/validation.h"

namespace trireme::train {

// The samples a run was trained with, for data that is not the run's own.
struct RunSamples {
  data::DataSpec spec;                        // as the data holds them, with the names of the run's classes
  std::vector<tensor::Shape> network_inputs;  // as the network takes them: images may have been resized
};

// Opens samples for the network of an existing run; the sets have the run's spec.
struct SavedData {
  RunSamples samples;
  data::OpenData open;
};

struct Experiment {
  // Targets of values are in the data's own units in all sets; training_samples() are as training sees them.
  data::DatasetPtr train;       // augmented, normalised; without the validation share
  data::DatasetPtr validation;  // null: the test set is evaluated instead
  data::DatasetPtr test;
  ValidationPlan validation_plan;
  data::DistributionOptions distribution;
  std::string data_path;                     // of the user's own data, absolute; empty for data that is known by name
  data::DataSpec data_spec;                  // of the samples as the data holds them
  std::optional<data::ImageOptions> images;  // how files of images were read; a size found from the data included
  data::Normalization normalization;         // computed from the training set, or taken from a saved run
  data::TargetScale target_scale;            // the same
  graph::Network network{""};
  bool is_in_zoo = false;  // the network is one that the zoo makes, not one of a file or of a program of its own
  std::int64_t batch = 0;
  int oars = 1;
  int threads = 1;
  std::int64_t steps_per_epoch = 0;
  std::int64_t total_steps = 0;
  bool drop_last = false;
  std::uint64_t seed = 0;
  base::CorePlan cores;
  crew::CrewOptions crew_options;
  std::vector<std::string> notes;  // sentences for the user: warnings, better numbers of oars
};

// The number of workers of a run, and of those that share this host's cores.
struct HostNeighbours {
  int workers = 1;
  int here = 1, index = 0;  // workers on this host; this worker's index among them
};

// The training set with its targets as they are learnt.
data::DatasetPtr training_samples(const Experiment& experiment);

// The loader options that follow from the experiment.
data::LoaderOptions loader_options(const Experiment& experiment);

// A hash over the size of each set, a few of its samples with their targets, and the scale of the targets. Equal data
// gives equal hashes.
std::string data_hash(const Experiment& experiment);

// A file that is no kernel table is a user error.
std::shared_ptr<const ops::KernelTable> read_kernel_table(const std::string& file);

// What is taken as given instead of being found from the settings and the data.
struct GivenParts {
  // Of the run that the settings come from; applied instead of one computed from the data given now.
  const data::Normalization* normalization = nullptr;
  data::TargetScale target_scale{};  // of that run
  // The description of the network; without it, the settings name the model.
  std::optional<ModelText> model{};
  // Other data for a saved run; the network is the run's, whatever the data.
  const SavedData* data = nullptr;
  // The columns of the run's table, for the same table read again.
  std::shared_ptr<const data::TableSchema> schema{};
};

// Reads the dataset and builds the network. All mistakes in the settings are user errors, found before anything is
// written.
Experiment resolve(const Registry& registry, const base::Settings& settings, const GivenParts& given = {},
                   const HostNeighbours& neighbours = {});

}  // namespace trireme::train
