#include "cli/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/files.h"

namespace trireme::cli {
namespace {

constexpr double kLeft = 80, kTop = 50, kWidth = 620, kHeight = 380, kLegend = 260;
// Told apart by people who see colours differently (after Okabe and Ito).
constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"};

// Whole powers of ten around the values.
struct Axis {
  double low = 0, high = 1;  // exponents

  void include(double value) {
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  double share(double value) const { return (std::log10(value) - low) / (high - low); }
};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

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

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"28\" font-size=\"17\">{}</text>\n",
      kLeft + kWidth + kLegend, kTop + kHeight + 60, kLeft, escaped(plot.title));
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
                     kTop + kHeight + 45, escaped(plot.x));
  svg += fmt::format("<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     kTop + kHeight / 2, escaped(plot.y));
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
        kLeft + kWidth + 20, y, colour, kLeft + kWidth + 42, y + 7, escaped(line.name));
  }
  return svg + "</svg>\n";
}

void expect_new_plot(const std::string& file) {
  if (!file.ends_with(".svg")) base::user_error("--plot is '{}', expected a name that ends in .svg", file);
  if (std::error_code ignored; base::fs::exists(file, ignored))
    base::user_error("{} is there already; name another file or move it away", file);
}

void write_plot(const Plot& plot, const std::string& file) {
  std::ofstream out(file);
  out << to_svg(plot);
  out.close();
  if (!out) base::user_error("cannot write {}", file);
}

}  // namespace trireme::cli
