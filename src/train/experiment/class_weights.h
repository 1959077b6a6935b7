// class_weights(): --class-weights as one factor per class. Thread-safe.
//
// The loss of a batch of n samples is sum(weight of the sample's class * its loss) / n. The weights are scaled to a
// mean of 1 over the training samples, so that learning rates mean what they mean without weights. PyTorch divides by
// the batch's sum of weights instead; an oar does not know that sum when it begins.
#pragma once

#include <string>
#include <vector>

#include "data/dataset/dataset.h"

namespace trireme::train {

// `text`: none (no factors), balanced (1 / samples of the class), or NAME=2,OTHER=0.5 by names or numbers of classes;
// the others have 1. `option` names it in errors. Mistakes are user errors.
std::vector<float> class_weights(const std::string& option, const std::string& text, const data::Dataset& training_set);
// "class weights: cat 0.67, dog 2": the first few, for the user.
std::string class_weights_note(const data::DataSpec& spec, const std::vector<float>& weights);

}  // namespace trireme::train
