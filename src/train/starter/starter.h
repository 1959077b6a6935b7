// StarterPlan: a first experiment for a dataset, chosen by rules of thumb from its survey, and written as commented
// TOML. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "train/starter/data_survey.h"

namespace trireme::train {

struct StarterPlan {
  std::string model;            // of the zoo; empty: the network of starter_network()
  std::int64_t image_size = 0;  // of both sides; 0: the data's own
  std::int64_t width = 0;       // channels of the network's first stage
  std::int64_t batch = 0, oars = 1, epochs = 1;
  std::string optimizer, schedule, augment, validation;
  std::int64_t steps = 0;  // in all
};

StarterPlan plan_start(const DataSurvey& survey);

// The network as a file for --model. REQUIRES: the plan names no model.
std::string starter_network(const StarterPlan& plan, const DataSurvey& survey);

// The names that the configuration file needs.
struct StarterNames {
  std::string data, data_dir, target;  // as --data, --data-dir and --target take them
  std::string model;                   // the plan's, or the network's file
  std::string config;                  // this file's own name, for the command in its comment
  std::uint64_t seed = 1;
  bool skip_bad = false;
  std::vector<std::pair<std::string, std::string>> table{};  // options of how a table is read, and their values
};
std::string starter_config(const StarterPlan& plan, const DataSurvey& survey, const StarterNames& names);

}  // namespace trireme::train
