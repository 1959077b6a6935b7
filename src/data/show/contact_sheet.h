// A contact sheet: a picture of many samples with their labels, to see whether the data is what one believes it is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/dataset/dataset.h"

namespace trireme::data {

struct SheetOptions {
  std::int64_t columns = 8, rows = 8;
  std::vector<std::int64_t> indices{};  // which samples; empty: evenly from the first to the last
  AugmentationSeed random{};            // what augmentation draws
  struct Range {
    float black = 0, white = 255;
  };
  // Which values are black and white. Without it bytes are shown as they are, other values from the smallest to the
  // largest that an input has on the sheet.
  std::optional<Range> range{};
};

// A PNG file. Images are shown grey or in colour, enlarged by a whole number so that their pixels can be seen; with 2
// or more than 3 channels each channel is a grey picture of its own; other inputs are plots, one line per channel.
// Several inputs stand side by side, the label below. An index outside of the dataset is a user error.
std::vector<std::uint8_t> contact_sheet(const Dataset& dataset, const SheetOptions& options);

}  // namespace trireme::data
