// Class mapping: a stage that renumbers classes or labels by their names, for a network trained with other data.
// Thread-safe.
#pragma once

#include <string>

#include "data/dataset/dataset.h"

namespace trireme::data {

// The dataset with the classes of `wanted` (number and names). Where both sides have names, samples keep their class's
// name; a name that `wanted` lacks is a user error, as is a label that the dataset lacks. Where one side has no names,
// numbers are kept, and more classes than wanted are a user error. `name`: what the user called the data.
// REQUIRES: both have the same kind of target.
DatasetPtr map_classes(DatasetPtr dataset, const DataSpec& wanted, const std::string& name);

}  // namespace trireme::data
