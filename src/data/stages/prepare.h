// Prepare: samples as the network gets them, augmented and normalised in one pass from how they are stored (plane.h).
// Padding is black: it comes before the normalisation.
#pragma once

#include <string_view>

#include "data/dataset/dataset.h"
#include "data/stages/augment.h"
#include "data/stages/normalize.h"

namespace trireme::data {

// The source itself when nothing is to be done. To augment, all inputs must be images (colours, rows, columns); all
// inputs of a sample change together.
DatasetPtr prepare(DatasetPtr source, const Augmentation& augmentation, Normalization normalization);

DatasetPtr augment(DatasetPtr source, std::string_view text);
DatasetPtr normalize(DatasetPtr source, Normalization normalization);

}  // namespace trireme::data
