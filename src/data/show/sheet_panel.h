// Draws one input of one sample: an image, several grey pictures, or a plot. Pure functions; thread-safe.
#pragma once

#include <cstdint>

#include "data/show/picture.h"
#include "tensor/shape.h"

namespace trireme::data {

// The layout of a picture for inputs of a shape.
struct Panel {
  explicit Panel(const tensor::Shape& shape);

  std::int64_t width() const;  // including the gaps between the pictures
  std::int64_t height() const { return picture_height; }

  bool is_plot = false;
  std::int64_t channels = 1, rows = 1, columns = 1;  // a plot has one row
  std::int64_t pictures = 1;                         // side by side: 1, or one per channel shown
  std::int64_t enlarged = 1, shrunk = 1;             // scale factors; at least one of them is 1
  std::int64_t picture_width = 0, picture_height = 0;
};

// Draws the values, mapping `black` ... `white` to the grey scale and clipping outside it. Top left corner at x, y.
void draw_panel(const Panel& panel, const float* values, float black, float white, std::int64_t x, std::int64_t y,
                Picture& picture);

}  // namespace trireme::data
