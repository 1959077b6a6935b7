// Prepare: the stage that augments and normalizes samples in one pass over their stored form (plane.h). Padding is
// black: it is added before the normalization. Thread-safe.
#pragma once

#include <string_view>

#include "data/dataset/dataset.h"
#include "data/stages/augment.h"
#include "data/stages/normalize.h"

namespace trireme::data {

// Returns the source itself when there is nothing to do. Augmentation needs images (colours, rows, columns) in all
// inputs (else a user error); all inputs of a sample change in the same way.
DatasetPtr prepare(DatasetPtr source, const Augmentation& augmentation, Normalization normalization);

DatasetPtr augment(DatasetPtr source, std::string_view text);
DatasetPtr normalize(DatasetPtr source, Normalization normalization);

}  // namespace trireme::data
