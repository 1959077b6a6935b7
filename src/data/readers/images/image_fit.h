// Scales an image and converts its colours, so that it fits into a column of equal images. Pure functions; thread-safe.
#pragma once

#include <cstdint>

#include "data/dataset/image_options.h"
#include "data/readers/images/image_file.h"

namespace trireme::data {

// Writes the image as shape's colours (1 or 3) x rows x columns bytes. Grey becomes RGB by repetition, RGB becomes grey
// by its luma (0.299 red + 0.587 green + 0.114 blue). Along an axis that shrinks, a pixel is the mean of the part of
// the image it covers; along one that grows, it is interpolated linearly (as in resize.h). What is cut off by
// ImageFit::crop or black by ImageFit::pad is equal on both sides, or a pixel more on the right or at the bottom.
void fit_image(const Image& image, const tensor::Shape& shape, ImageFit fit, std::uint8_t* to);

}  // namespace trireme::data
