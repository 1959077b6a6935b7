// Canvas: an RGB picture to draw on, initially white. Clips everything outside. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "data/readers/images/image_file.h"

namespace trireme::data {

using Colour = std::array<std::uint8_t, 3>;

struct Box {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
};

class Canvas {
 public:
  Canvas(std::int64_t width, std::int64_t height);

  void fill(const Box& box, const Colour& colour);
  void frame(const Box& inside, const Colour& colour);  // one pixel wide, around the box
  void line(std::int64_t x0, std::int64_t y0, std::int64_t x1, std::int64_t y1, const Colour& colour);
  // Each pixel of a character is scale x scale pixels; x, y is the top left corner.
  void text(std::int64_t x, std::int64_t y, std::string_view text, std::int64_t scale, const Colour& colour);
  static std::int64_t text_width(std::size_t characters, std::int64_t scale);

  const Image& image() const { return image_; }

 private:
  Image image_;
};

}  // namespace trireme::data
