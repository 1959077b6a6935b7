#include "watch/show/plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "watch/show/axis.h"
#include "watch/show/svg.h"

namespace trireme::watch {
namespace {

constexpr double kPlotLeft = 80, kPlotTop = 50, kWidth = 620, kPlotHeight = 380, kPlotLegend = 260;
constexpr double kWholeHeight = kPlotTop + kPlotHeight + 60;

// One plot of a picture; `top` is where its frame begins.
class Panel {
 public:
  Panel(const Plot& plot, double top) : plot_(plot), top_(top), across_(plot.x_scale), up_(plot.y_scale) {
    for (const PlotLine& line : plot.lines)
      for (const auto& [x, y] : line.points)
        if (across_.can_show(x) && up_.can_show(y)) across_.include(x), up_.include(y);
    if (plot.is_from_zero) up_.include(0);
    across_.finish();
    up_.finish();
  }

  std::string draw() const {
    std::string svg = grid();
    for (std::size_t i = 0; i < plot_.lines.size(); ++i) svg += draw_line(plot_.lines[i], i);
    return svg;
  }

 private:
  double x_of(double value) const { return kPlotLeft + kWidth * across_.share(value); }
  double y_of(double value) const { return top_ + kPlotHeight * (1 - up_.share(value)); }

  std::string grid() const {
    std::string svg;
    const auto rule = [&](double x1, double y1, double x2, double y2) {
      svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x1, y1,
                         x2, y2);
    };
    for (const Axis::Rule& each : across_.rules()) {
      const double x = kPlotLeft + kWidth * each.share;
      rule(x, top_, x, top_ + kPlotHeight);
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, top_ + kPlotHeight + 20,
                         each.label);
    }
    for (const Axis::Rule& each : up_.rules()) {
      const double y = top_ + kPlotHeight * (1 - each.share);
      rule(kPlotLeft, y, kPlotLeft + kWidth, y);
      svg +=
          fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kPlotLeft - 8, y + 5, each.label);
    }
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", kPlotLeft + kWidth / 2,
                       top_ + kPlotHeight + 45, svg_escaped(plot_.x));
    svg += fmt::format("<text transform=\"translate(22 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                       top_ + kPlotHeight / 2, svg_escaped(plot_.y));
    return svg;
  }

  std::string draw_line(const PlotLine& line, std::size_t number) const {
    const std::size_t index = line.colour >= 0 ? static_cast<std::size_t>(line.colour) : number;
    const char* colour = kColours[index % kColours.size()];
    const char* dashes = line.is_dashed ? " stroke-dasharray=\"5 3\"" : "";
    auto points = line.points;
    std::erase_if(points, [&](const auto& p) { return !across_.can_show(p.first) || !up_.can_show(p.second); });
    std::ranges::sort(points);
    std::string path, svg;
    // Marks at all points, or at a few of those of a long line.
    const std::size_t every = line.has_marks ? std::max<std::size_t>(1, points.size() / 60) : points.size() / 5 + 1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto& [x, y] = points[i];
      path += fmt::format("{:.1f},{:.1f} ", x_of(x), y_of(y));
      if (i % every == every / 2) svg += svg_mark(index, x_of(x), y_of(y), colour);
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", path, colour,
                       dashes);
    const double y = top_ + 12 + 22 * static_cast<double>(number), x = kPlotLeft + kWidth + 20;
    svg += fmt::format(
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"3\"{}/>\n"
        "<text x=\"{}\" y=\"{}\">{}</text>\n",
        x, y, x + 22, y, colour, dashes, x + 28, y + 5, svg_escaped(line.name));
    svg += svg_mark(index, x + 11, y, colour);
    return svg;
  }

  const Plot& plot_;
  double top_;
  Axis across_, up_;
};

}  // namespace

std::string to_svg(const Plot& plot) { return to_svg(std::vector<Plot>{plot}); }

std::string to_svg(const std::vector<Plot>& plots) {
  const double height = kWholeHeight * static_cast<double>(plots.size());
  std::string svg = svg_head(kPlotLeft + kWidth + kPlotLegend, height, kPlotLeft, plots.empty() ? "" : plots[0].title);
  for (std::size_t i = 0; i < plots.size(); ++i) {
    const double top = kWholeHeight * static_cast<double>(i) + kPlotTop;
    if (i > 0)
      svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"17\">{}</text>\n", kPlotLeft, top - 22,
                         svg_escaped(plots[i].title));
    svg += Panel(plots[i], top).draw();
  }
  return svg + "</svg>\n";
}

}  // namespace trireme::watch
