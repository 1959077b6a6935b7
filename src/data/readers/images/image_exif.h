// EXIF orientation: how a camera was held, as a tag of the image file, and turning the pixels accordingly.
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "data/readers/images/image_file.h"

namespace trireme::data {

// The orientation (tag 0x0112 of the first directory) of a TIFF structure, as an EXIF block holds one: 1 ... 8.
// Anything missing, damaged or out of range counts as 1: an image is not refused for its metadata.
int tiff_orientation(std::span<const std::uint8_t> tiff);

// The same of a JPEG file's APP1 segment.
int jpeg_orientation(std::span<const std::uint8_t> jpeg);

// Rows and columns change places.
inline bool swaps_sides(int orientation) { return orientation >= 5; }

// The image as it is to be seen; its orientation is then 1.
Image turn_upright(Image image);

}  // namespace trireme::data
