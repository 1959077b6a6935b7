// Resized crop: a window of an image, enlarged to the image's own size. Pure functions; thread-safe.
#pragma once

#include <cstdint>

#include "data/dataset/dataset.h"

namespace trireme::data {

struct Window {
  std::int64_t top = 0, left = 0, rows = 0, columns = 0;
};

// Writes height x width floats: the window alone, interpolated bilinearly as resize.h does. A window of the whole plane
// gives its values as they are.
// REQUIRES: the window is not empty and lies inside the plane of height x width values.
void resize_window(const StoredValues& plane, std::int64_t height, std::int64_t width, const Window& window,
                   float* dst);

}  // namespace trireme::data
