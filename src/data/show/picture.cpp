#include "data/show/picture.h"

#include <cairo.h>

#include <cstring>
#include <type_traits>

#include "base/error.h"

namespace trireme::data {
namespace {

struct FreeSurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, FreeSurface>;

Surface make_surface(std::int64_t width, std::int64_t height) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width), static_cast<int>(height)));
  if (const cairo_status_t status = cairo_surface_status(surface.get()); status != CAIRO_STATUS_SUCCESS)
    base::run_error("a picture of {}x{} pixels cannot be made: {}", height, width, cairo_status_to_string(status));
  return surface;
}

}  // namespace

void Picture::Free::operator()(cairo_t* context) const { cairo_destroy(context); }

Picture::Picture(std::int64_t width, std::int64_t height) : context_(cairo_create(make_surface(width, height).get())) {
  set({255, 255, 255});
  cairo_paint(context());
  cairo_set_line_width(context(), 1);
  cairo_set_line_cap(context(), CAIRO_LINE_CAP_ROUND);
}

void Picture::set(const Colour& colour) {
  cairo_set_source_rgb(context(), colour[0] / 255.0, colour[1] / 255.0, colour[2] / 255.0);
}

void Picture::frame(const Box& inside, const Colour& colour) {
  set(colour);
  cairo_set_line_join(context(), CAIRO_LINE_JOIN_MITER);
  cairo_rectangle(context(), static_cast<double>(inside.x) - 0.5, static_cast<double>(inside.y) - 0.5,
                  static_cast<double>(inside.width) + 1, static_cast<double>(inside.height) + 1);
  cairo_stroke(context());
}

void Picture::pixels(std::int64_t x, std::int64_t y, const Pixels& from, std::int64_t side) {
  const auto count = static_cast<std::int64_t>(from.colours.size());
  if (count == 0) return;
  const std::int64_t rows = count / from.columns;
  const Surface small = make_surface(from.columns, rows);
  const int stride = cairo_image_surface_get_stride(small.get());
  std::uint8_t* memory = cairo_image_surface_get_data(small.get());
  for (std::int64_t i = 0; i < count; ++i) {
    const Colour& colour = from.colours[static_cast<std::size_t>(i)];
    const std::uint32_t word = std::uint32_t{colour[0]} << 16 | std::uint32_t{colour[1]} << 8 | colour[2];
    std::memcpy(memory + i / from.columns * stride + i % from.columns * 4, &word, sizeof word);
  }
  cairo_surface_mark_dirty(small.get());
  cairo_save(context());
  cairo_translate(context(), static_cast<double>(x), static_cast<double>(y));
  cairo_scale(context(), static_cast<double>(side), static_cast<double>(side));
  cairo_set_source_surface(context(), small.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(context()), CAIRO_FILTER_NEAREST);
  cairo_rectangle(context(), 0, 0, static_cast<double>(from.columns), static_cast<double>(rows));
  cairo_fill(context());
  cairo_restore(context());
}

void Picture::line(std::span<const Point> points, const Colour& colour) {
  set(colour);
  cairo_set_line_join(context(), CAIRO_LINE_JOIN_ROUND);
  for (const Point& point : points) cairo_line_to(context(), point.x + 0.5, point.y + 0.5);
  if (points.size() == 1) cairo_close_path(context());
  cairo_stroke(context());
}

std::vector<std::uint8_t> Picture::png() const {
  std::vector<std::uint8_t> bytes;
  const auto append = [](void* to, const unsigned char* from, unsigned count) noexcept {
    try {
      static_cast<std::vector<std::uint8_t>*>(to)->insert(static_cast<std::vector<std::uint8_t>*>(to)->end(), from,
                                                          from + count);
      return CAIRO_STATUS_SUCCESS;
    } catch (...) {  // out of memory; must not throw through C code
      return CAIRO_STATUS_NO_MEMORY;
    }
  };
  const cairo_status_t status = cairo_surface_write_to_png_stream(cairo_get_target(context_.get()), append, &bytes);
  if (status != CAIRO_STATUS_SUCCESS) base::run_error("a PNG image cannot be made: {}", cairo_status_to_string(status));
  return bytes;
}

}  // namespace trireme::data
