// --target-scale: whether values are standardised for training. Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/text/options.h"
#include "data/dataset/dataset.h"
#include "data/dataset/target_scale.h"
#include "graph/network.h"

namespace trireme::train {

// The scale that a new run learns with, computed from its training samples; none where values are learnt as they are.
// `has_name`: the data is one of the list of datasets. Adds notes for the user.
data::TargetScale choose_target_scale(const base::Settings& settings, bool has_name, const data::Dataset& train,
                                      const graph::Network& network, std::vector<std::string>& notes);

// The option's value that means the scale: standard or none.
const char* target_scale_name(const data::TargetScale& scale);

}  // namespace trireme::train
