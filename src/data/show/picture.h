// Picture: an RGB picture to draw on with Cairo, initially white. Clips everything outside. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// As <cairo.h> does, which only the sources of this folder need.
typedef struct _cairo cairo_t;  // NOLINT(bugprone-reserved-identifier)

namespace trireme::data {

using Colour = std::array<std::uint8_t, 3>;

struct Box {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
};

// Colours in rows of `columns` pixels.
struct Pixels {
  std::int64_t columns = 0;
  std::vector<Colour> colours;
};

class Picture {
 public:
  static constexpr std::int64_t kMostPixelsEachWay = 32767;  // Cairo's limit

  Picture(std::int64_t width, std::int64_t height);

  void frame(const Box& inside, const Colour& colour);  // one pixel wide, around the box
  // Each pixel becomes a square of side x side pixels; x, y is the top left corner.
  void pixels(std::int64_t x, std::int64_t y, const Pixels& from, std::int64_t side);
  // A line from point to point, one pixel wide; a dot for a single one. Points are the centres of pixels.
  struct Point {
    double x = 0, y = 0;
  };
  void line(std::span<const Point> points, const Colour& colour);

  cairo_t* context() { return context_.get(); }
  std::vector<std::uint8_t> png() const;

 private:
  struct Free {
    void operator()(cairo_t* context) const;
  };
  void set(const Colour& colour);

  std::unique_ptr<cairo_t, Free> context_;  // owns its surface
};

}  // namespace trireme::data
