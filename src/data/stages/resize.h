// Resize: images made larger or smaller by bilinear interpolation, as PyTorch's interpolate does with
// align_corners=false and no anti-aliasing: the centre of output pixel i lies at (i + 0.5) * in / out - 0.5.
#pragma once

#include <cstdint>

#include "data/dataset/dataset.h"

namespace trireme::data {

// Every input (colours x rows x columns, else a user error) made height x width; the source itself when it already is.
DatasetPtr resize(DatasetPtr source, std::int64_t height, std::int64_t width);

}  // namespace trireme::data
