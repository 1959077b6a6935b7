// Resize: a stage that scales images by bilinear interpolation, as PyTorch's interpolate does with align_corners=false
// and no anti-aliasing: the centre of output pixel i lies at (i + 0.5) * in / out - 0.5. Thread-safe.
#pragma once

#include <cstdint>

#include "data/dataset/dataset.h"

namespace trireme::data {

// Scales every input (colours x rows x columns, else a user error) to height x width. Returns the source itself if it
// already has that size.
DatasetPtr resize(DatasetPtr source, std::int64_t height, std::int64_t width);

}  // namespace trireme::data
