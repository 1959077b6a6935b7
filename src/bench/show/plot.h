// Plot: lines over two logarithmic axes, as an SVG file. Pure functions; thread-safe.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trireme::bench {

struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // both above 0
};

struct Plot {
  std::string title, x, y;
  std::vector<PlotLine> lines;
};

std::string to_svg(const Plot& plot);

}  // namespace trireme::bench
