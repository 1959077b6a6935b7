#include "data/show/sheet_panel.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trireme::data {
namespace {

constexpr std::int64_t kSmallestSide = 96, kLargestSide = 256;  // approximate, of a picture
constexpr std::int64_t kPlotWidth = 160, kPlotHeight = 96, kPlotMargin = 3;
constexpr std::int64_t kMostPictures = 8, kMostLines = 32;
constexpr std::int64_t kGap = 3;
constexpr Colour kFrame = {208, 208, 208}, kNotANumber = {255, 0, 255};
constexpr std::array<Colour, 6> kLines = {
    {{31, 90, 170}, {200, 60, 40}, {40, 130, 60}, {130, 70, 160}, {200, 130, 20}, {70, 70, 70}}};

// Maps black ... white to 0 ... 1; in double, so that no difference overflows.
double share_of(double value, double black, double white) {
  return white > black ? std::clamp((value - black) / (white - black), 0.0, 1.0) : 0.5;
}

// The mean over a block of shrunk x shrunk pixels.
float pixel(const Panel& panel, const float* plane, std::int64_t row, std::int64_t column) {
  const std::int64_t bottom = std::min((row + 1) * panel.shrunk, panel.rows);
  const std::int64_t right = std::min((column + 1) * panel.shrunk, panel.columns);
  float sum = 0;
  std::int64_t count = 0;
  for (std::int64_t y = row * panel.shrunk; y < bottom; ++y)
    for (std::int64_t x = column * panel.shrunk; x < right; ++x, ++count) sum += plane[y * panel.columns + x];
  return sum / static_cast<float>(count);
}

void draw_picture(const Panel& panel, const float* values, float black, float white, bool in_colour, const Box& box,
                  Picture& picture) {
  picture.frame(box, kFrame);
  const std::int64_t area = panel.rows * panel.columns, columns = box.width / panel.enlarged;
  Pixels pixels{columns, {}};
  for (std::int64_t y = 0; y < box.height / panel.enlarged; ++y)
    for (std::int64_t x = 0; x < columns; ++x) {
      Colour colour{};
      for (std::size_t c = 0; c < 3; ++c) {
        const float* plane = values + (in_colour ? static_cast<std::int64_t>(c) * area : 0);
        const float value = pixel(panel, plane, y, x);
        if (std::isnan(value)) {
          colour = kNotANumber;
          break;
        }
        colour[c] = static_cast<std::uint8_t>(std::lround(255.0 * share_of(value, black, white)));
      }
      pixels.colours.push_back(colour);
    }
  picture.pixels(box.x, box.y, pixels, panel.enlarged);
}

// A line through all values; it breaks at those that are no numbers.
void draw_line(const float* values, std::int64_t length, float black, float white, const Colour& colour, const Box& box,
               Picture& picture) {
  const auto wide = static_cast<double>(box.width - 1), high = static_cast<double>(box.height - 1);
  std::vector<Picture::Point> points;
  for (std::int64_t i = 0; i <= length; ++i) {
    if (i == length || std::isnan(values[i])) {
      picture.line(points, colour);
      points.clear();
      continue;
    }
    const double across = length == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(length - 1);
    points.push_back({static_cast<double>(box.x) + across * wide,
                      static_cast<double>(box.y) + (1 - share_of(values[i], black, white)) * high});
  }
}

void draw_plot(const Panel& panel, const float* values, float black, float white, const Box& box, Picture& picture) {
  picture.frame(box, kFrame);
  const Box inside{box.x + kPlotMargin, box.y + kPlotMargin, box.width - 2 * kPlotMargin, box.height - 2 * kPlotMargin};
  for (std::int64_t c = 0; c < std::min(panel.channels, kMostLines); ++c)
    draw_line(values + c * panel.columns, panel.columns, black, white,
              kLines[static_cast<std::size_t>(c) % kLines.size()], inside, picture);
}

}  // namespace

Panel::Panel(const tensor::Shape& shape) {
  if (shape.rank() != 3) {
    is_plot = true;
    channels = shape.rank() > 1 ? shape[0] : 1;
    columns = shape.count() / channels;
    picture_width = kPlotWidth;
    picture_height = kPlotHeight;
    return;
  }
  channels = shape[0];
  rows = shape[1];
  columns = shape[2];
  pictures = channels == 1 || channels == 3 ? 1 : std::min(channels, kMostPictures);
  const std::int64_t longer = std::max(rows, columns);
  enlarged = longer < kSmallestSide ? (kSmallestSide + longer - 1) / longer : 1;
  shrunk = (longer + kLargestSide - 1) / kLargestSide;
  picture_width = (columns + shrunk - 1) / shrunk * enlarged;
  picture_height = (rows + shrunk - 1) / shrunk * enlarged;
}

std::int64_t Panel::width() const { return pictures * picture_width + (pictures - 1) * kGap; }

void draw_panel(const Panel& panel, const float* values, float black, float white, std::int64_t x, std::int64_t y,
                Picture& picture) {
  if (panel.is_plot) {
    draw_plot(panel, values, black, white, {x, y, panel.picture_width, panel.picture_height}, picture);
    return;
  }
  for (std::int64_t p = 0; p < panel.pictures; ++p)
    draw_picture(panel, values + p * panel.rows * panel.columns, black, white, panel.channels == 3,
                 {x + p * (panel.picture_width + kGap), y, panel.picture_width, panel.picture_height}, picture);
}

}  // namespace trireme::data
