#include "watch/formats/confusion_picture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/index.h"
#include "data/show/picture.h"

namespace trireme::watch {
namespace {

using base::at;

constexpr std::int64_t kSide = 400;  // about, in pixels

// White over blue to nearly black; lightness falls evenly, so it reads without colours, too.
data::Colour shade(double share) {
  const auto mix = [&](double from, double to) {
    return static_cast<std::uint8_t>(std::lround(from + share * (to - from)));
  };
  return share < 0.5 ? data::Colour{mix(255, -13), mix(255, 31), mix(255, 155)}
                     : data::Colour{mix(234, 8), mix(257, 29), mix(322, 88)};
}

}  // namespace

ConfusionPicture draw_confusion(const observe::ConfusionCounted& confusion) {
  const auto classes = static_cast<std::int64_t>(confusion.classes.size());
  if (classes == 0 || confusion.counts.size() != at(classes * classes)) return {};
  data::Pixels pixels{classes, {}};
  for (std::int64_t row = 0; row < classes; ++row) {
    const auto begin = confusion.counts.begin() + row * classes;
    const auto samples = std::max<std::int64_t>(1, std::accumulate(begin, begin + classes, std::int64_t{0}));
    for (auto count = begin; count != begin + classes; ++count)
      pixels.colours.push_back(shade(static_cast<double>(*count) / static_cast<double>(samples)));
  }
  const std::int64_t square = std::max<std::int64_t>(1, kSide / classes), side = square * classes;
  data::Picture picture(side, side);
  picture.pixels(0, 0, pixels, square);
  const std::vector<std::uint8_t> png = picture.png();
  return {side, std::string(png.begin(), png.end())};
}

}  // namespace trireme::watch
