// SavedData for eval and predict: opens the data that a user names for the network of a saved run.
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "train/experiment/experiment.h"

namespace trireme::cli {

// The word for --data that reads a list of image files from standard input.
inline constexpr const char* kListOnInput = "-";

struct DataWish {
  bool is_own = true;  // the run's own data
  bool whole = false;  // data without a test set of its own is used as a whole
  bool may_lack_targets = false;
};

// What opening the data found out.
struct FoundData {
  bool has_targets = true;
  bool is_whole = false;           // the samples are all of the data, not a set of it
  std::vector<std::string> notes;  // sentences for the user
};

// Samples come in the run's shape and with the run's classes: images are resized, classes are matched by name.
// Data that does not fit is a user error. REQUIRES: readers and found outlive the result.
train::SavedData saved_data(const data::Readers& readers, train::RunSamples samples, const DataWish& wish,
                            FoundData& found);

}  // namespace trireme::cli
