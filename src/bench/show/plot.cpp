#include "bench/show/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/show/svg.h"

namespace trireme::bench {
namespace {

constexpr double kPlotLeft = 80, kPlotTop = 50, kWidth = 620, kPlotHeight = 380, kPlotLegend = 260;

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
  const auto place_x = [&](double x) { return kPlotLeft + kWidth * across.share(x); };
  const auto place_y = [&](double y) { return kPlotTop + kPlotHeight * (1 - up.share(y)); };

  std::string svg = svg_head(kPlotLeft + kWidth + kPlotLegend, kPlotTop + kPlotHeight + 60, kPlotLeft, plot.title);
  const auto rule = [&](double x1, double y1, double x2, double y2) {
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1, x2,
                       y2);
  };
  for (double e = across.low; e <= across.high; ++e) {
    const double x = place_x(std::pow(10, e));
    rule(x, kPlotTop, x, kPlotTop + kPlotHeight);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, kPlotTop + kPlotHeight + 20,
                       power_of_ten(e));
  }
  for (double e = up.low; e <= up.high; ++e) {
    const double y = place_y(std::pow(10, e));
    rule(kPlotLeft, y, kPlotLeft + kWidth, y);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kPlotLeft - 8, y + 5,
                       power_of_ten(e));
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", kPlotLeft + kWidth / 2,
                     kPlotTop + kPlotHeight + 45, svg_escaped(plot.x));
  svg += fmt::format("<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     kPlotTop + kPlotHeight / 2, svg_escaped(plot.y));
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
    const double y = kPlotTop + 10 + 22 * static_cast<double>(i);
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{}\"/>\n<text x=\"{}\" y=\"{}\">{}</text>\n",
        kPlotLeft + kWidth + 20, y, colour, kPlotLeft + kWidth + 42, y + 7, svg_escaped(line.name));
  }
  return svg + "</svg>\n";
}

}  // namespace trireme::bench
