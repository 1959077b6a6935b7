// A contact sheet: a picture of many samples with their labels, for checking the data by eye. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"

namespace trireme::data {

struct SheetOptions {
  std::int64_t columns = 8, rows = 8;
  std::vector<std::int64_t> indices{};  // samples to show; empty: evenly spaced from first to last
  std::vector<std::string> labels{};    // below the samples of `indices`; empty: their targets
  AugmentationSeed random{};            // seed of the augmentation
  struct Range {
    float black = 0, white = 255;
  };
  // The values shown as black and white. Unset: bytes are shown as they are; other inputs are scaled from their
  // smallest to their largest value on the sheet.
  std::optional<Range> range{};
};

struct ContactSheet {
  std::vector<std::uint8_t> png;
  std::vector<std::string> notes;  // sentences for the user
};

// Images are grey or in colour, enlarged by an integer factor so that pixels are visible. With 2 or
// more than 3 channels, each channel is a separate grey picture. Other inputs are plots with one line per channel.
// Several inputs stand side by side, the label below, in any script that this machine has fonts for. An index outside
// the dataset is a user error.
ContactSheet contact_sheet(const Dataset& dataset, const SheetOptions& options);

}  // namespace trireme::data
