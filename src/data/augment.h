// Augment: random changes of training images. What is drawn is a pure function of (seed, epoch, sample index), never of
// who asks or when. Wrap the raw images and normalize after, so that padding is black.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/dataset.h"

namespace trireme::data {

struct Augmentation {
  std::int64_t pad = 0;  // pad this many zeros on each side, then crop the old size at a random place
  bool flip = false;     // mirror left and right, every second time
};

// "crop,flip", "crop=2", "none" or "": the crop pads 4 unless told. An unknown name is a user error with the nearest
// one.
Augmentation parse_augmentation(std::string_view text);

// The source itself when nothing is to be done. All inputs must be images (colours, rows, columns); all inputs of a
// sample move together.
DatasetPtr augment(DatasetPtr source, const Augmentation& augmentation);
DatasetPtr augment(DatasetPtr source, std::string_view text);

}  // namespace trireme::data
