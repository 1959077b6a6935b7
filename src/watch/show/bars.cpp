#include "watch/show/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "watch/show/axis.h"
#include "watch/show/svg.h"

namespace trireme::watch {
namespace {

constexpr double kBarsLeft = 70, kBarsTop = 60, kBarsHeight = 340, kBelow = 70, kBarsLegend = 130;
constexpr double kBar = 46, kBetweenBars = 14, kBetweenGroups = 44;

double sum(const Bar& bar) { return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0); }

double width_of(const BarGroup& group) {
  return static_cast<double>(group.bars.size()) * (kBar + kBetweenBars) - kBetweenBars + kBetweenGroups;
}

// Parts are told apart by colours, and in print without colours by hatching.
constexpr const char* kHatches =
    "<defs><pattern id=\"hatch1\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#000\" "
    "stroke-width=\"1.4\"/></pattern>"
    "<pattern id=\"hatch2\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><circle cx=\"2\" cy=\"2\" "
    "r=\"1\" fill=\"#000\"/></pattern>"
    "<pattern id=\"hatch3\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><line x1=\"0\" y1=\"3\" x2=\"6\" "
    "y2=\"3\" stroke=\"#000\" stroke-width=\"1.2\"/></pattern>"
    "<pattern id=\"hatch4\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(-45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#000\" "
    "stroke-width=\"1.4\"/></pattern></defs>\n";

std::string piece_of_bar(double x, double y, double width, double height, std::size_t part) {
  const auto rectangle = [&](const std::string& fill, const char* more) {
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"{}/>\n", x, y,
                       width, height, fill, more);
  };
  const std::string colour = kColours[part % kColours.size()];
  const std::string piece = rectangle(colour, " stroke=\"#fff\" stroke-width=\"0.5\"");
  const std::size_t hatch = part % 5;
  return hatch == 0 ? piece : piece + rectangle(fmt::format("url(#hatch{})", hatch), " fill-opacity=\"0.35\"");
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, svg_escaped(text));
}

}  // namespace

std::string to_svg(const Bars& bars) {
  double highest = 0, width = kBetweenGroups;
  for (const BarGroup& group : bars.groups) {
    width += width_of(group);
    for (const Bar& bar : group.bars) highest = std::max(highest, sum(bar));
  }
  const double top = highest > 0 ? highest * 1.08 : 1;
  const auto place = [&](double value) { return kBarsTop + kBarsHeight * (1 - value / top); };
  std::string svg = svg_head(kBarsLeft + width + kBarsLegend, kBarsTop + kBarsHeight + kBelow, kBarsLeft, bars.title);
  svg += kHatches;
  for (double value = 0; value <= top; value += rule_distance(top)) {
    svg += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", kBarsLeft,
                       place(value), kBarsLeft + width, place(value));
    svg += text_at(kBarsLeft - 8, place(value) + 5, "end", fmt::format("{:g}", value));
  }
  svg += fmt::format("<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     kBarsTop + kBarsHeight / 2, svg_escaped(bars.y));
  double x = kBarsLeft + kBetweenGroups;
  for (const BarGroup& group : bars.groups) {
    const double begin = x;
    for (const Bar& bar : group.bars) {
      double base = 0;
      for (std::size_t part = 0; part < bar.parts.size(); ++part) {
        const double end = base + bar.parts[part];
        svg += piece_of_bar(x, place(end), kBar, place(base) - place(end), part);
        base = end;
      }
      svg += text_at(x + kBar / 2, place(base) - 6, "middle", bar.text);
      svg += text_at(x + kBar / 2, kBarsTop + kBarsHeight + 18, "middle", bar.name);
      x += kBar + kBetweenBars;
    }
    svg += text_at((begin + x - kBetweenBars) / 2, kBarsTop + kBarsHeight + 42, "middle", group.name);
    x += kBetweenGroups - kBetweenBars;
  }
  for (std::size_t part = 0; part < bars.parts.size(); ++part) {
    const double y = kBarsTop + 10 + 22 * static_cast<double>(bars.parts.size() - 1 - part);
    svg += piece_of_bar(kBarsLeft + width + 16, y, 14, 14, part);
    svg += text_at(kBarsLeft + width + 38, y + 12, "start", bars.parts[part]);
  }
  return svg + "</svg>\n";
}

}  // namespace trireme::watch
