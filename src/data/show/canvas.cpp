#include "data/show/canvas.h"

#include <algorithm>
#include <cstdlib>

#include "data/show/glyphs.h"

namespace trireme::data {

Canvas::Canvas(std::int64_t width, std::int64_t height)
    : image_{3, height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(3 * width * height), 255)} {}

void Canvas::fill(const Box& box, const Colour& colour) {
  const std::int64_t left = std::max<std::int64_t>(box.x, 0), right = std::min(box.x + box.width, image_.columns);
  const std::int64_t top = std::max<std::int64_t>(box.y, 0), bottom = std::min(box.y + box.height, image_.rows);
  for (std::int64_t c = 0; c < 3; ++c)
    for (std::int64_t y = top; y < bottom; ++y)
      for (std::int64_t x = left; x < right; ++x)
        image_.pixels[static_cast<std::size_t>((c * image_.rows + y) * image_.columns + x)] =
            colour[static_cast<std::size_t>(c)];
}

void Canvas::frame(const Box& inside, const Colour& colour) {
  const std::int64_t left = inside.x - 1, top = inside.y - 1, width = inside.width + 2, height = inside.height + 2;
  fill({left, top, width, 1}, colour);
  fill({left, top + height - 1, width, 1}, colour);
  fill({left, top, 1, height}, colour);
  fill({left + width - 1, top, 1, height}, colour);
}

void Canvas::line(std::int64_t x0, std::int64_t y0, std::int64_t x1, std::int64_t y1, const Colour& colour) {
  const std::int64_t steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), std::int64_t{1}});
  for (std::int64_t i = 0; i <= steps; ++i)
    fill({x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, 1, 1}, colour);
}

void Canvas::text(std::int64_t x, std::int64_t y, std::string_view text, std::int64_t scale, const Colour& colour) {
  for (const char character : text) {
    const std::int64_t top = y + glyph_drop(character) * scale;
    for (int row = 0; row < kGlyphHeight; ++row)
      for (int column = 0; column < kGlyphWidth; ++column)
        if (glyph_row(character, row) >> (kGlyphWidth - 1 - column) & 1u)
          fill({x + column * scale, top + row * scale, scale, scale}, colour);
    x += (kGlyphWidth + 1) * scale;
  }
}

std::int64_t Canvas::text_width(std::size_t characters, std::int64_t scale) {
  return characters == 0 ? 0 : (static_cast<std::int64_t>(characters) * (kGlyphWidth + 1) - 1) * scale;
}

}  // namespace trireme::data
