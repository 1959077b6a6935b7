// Plot: lines over two axes, one plot or several below each other, as an SVG file. Pure functions; thread-safe.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trireme::watch {

enum class Scale { linear, logarithmic };

struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points{};  // above 0 on logarithmic axes
  int colour = -1;                                  // index of kColours; -1: the line's number
  bool is_dashed = false;
  bool has_marks = true;  // a circle at each point
};

struct Plot {
  std::string title, x, y;
  std::vector<PlotLine> lines;
  Scale x_scale = Scale::logarithmic, y_scale = Scale::logarithmic;
  bool is_from_zero = false;  // a linear y axis begins at 0
};

std::string to_svg(const Plot& plot);
// One below the other.
std::string to_svg(const std::vector<Plot>& plots);

}  // namespace trireme::watch
