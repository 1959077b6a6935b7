#include "bench/show/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/show/svg.h"

namespace trireme::bench {
namespace {

constexpr double kLeft = 80, kTop = 50, kWidth = 620, kHeight = 380, kLegend = 260;

// A logarithmic axis, from one power of ten to another around the values.
struct Axis {
  double low = 0, high = 1;  // exponents

  void include(double value) {
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  double share(double value) const { return (std::log10(value) - low) / (high - low); }
};

std::string power_of_ten(double exponent) {
  return exponent >= -2 && exponent <= 4 ? fmt::format("{:g}", std::pow(10, exponent))
                                         : fmt::format("10<tspan dy=\"-5\" font-size=\"10\">{:g}</tspan>", exponent);
}

}  // namespace

std::string to_svg(const Plot& plot) {
  Axis across{1e9, -1e9}, up{1e9, -1e9};
  for (const PlotLine& line : plot.lines)
    for (const auto& [x, y] : line.points) across.include(x), up.include(y);
  for (Axis* axis : {&across, &up}) {
    if (axis->low > axis->high) *axis = {0, 1};
    if (axis->low == axis->high) axis->high += 1;
  }
  const auto place_x = [&](double x) { return kLeft + kWidth * across.share(x); };
  const auto place_y = [&](double y) { return kTop + kHeight * (1 - up.share(y)); };

  std::string svg = svg_head(kLeft + kWidth + kLegend, kTop + kHeight + 60, kLeft, plot.title);
  const auto rule = [&](double x1, double y1, double x2, double y2) {
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2,
                       y2);
  };
  for (double e = across.low; e <= across.high; ++e) {
    const double x = place_x(std::pow(10, e));
    rule(x, kTop, x, kTop + kHeight);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, kTop + kHeight + 20,
                       power_of_ten(e));
  }
  for (double e = up.low; e <= up.high; ++e) {
    const double y = place_y(std::pow(10, e));
    rule(kLeft, y, kLeft + kWidth, y);
    svg +=
        fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 5, power_of_ten(e));
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", kLeft + kWidth / 2,
                     kTop + kHeight + 45, svg_escaped(plot.x));
  svg += fmt::format("<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     kTop + kHeight / 2, svg_escaped(plot.y));
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const PlotLine& line = plot.lines[i];
    const char* colour = kColours[i % kColours.size()];
    auto points = line.points;
    std::ranges::sort(points);
    std::string path;
    for (const auto& [x, y] : points) {
      path += fmt::format("{:.1f},{:.1f} ", place_x(x), place_y(y));
      svg +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", place_x(x), place_y(y), colour);
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour);
    const double y = kTop + 10 + 22 * static_cast<double>(i);
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{}\"/>\n<text x=\"{}\" y=\"{}\">{}</text>\n",
        kLeft + kWidth + 20, y, colour, kLeft + kWidth + 42, y + 7, svg_escaped(line.name));
  }
  return svg + "</svg>\n";
}

}  // namespace trireme::bench
