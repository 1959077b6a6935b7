// A plot of lines over two logarithmic axes, as an SVG file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trireme::cli {

struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // both above 0
};

struct Plot {
  std::string title, x, y;
  std::vector<PlotLine> lines;
};

std::string to_svg(const Plot& plot);
// A user error where the file is there already, is not named *.svg, or cannot be written; the first before any work.
void expect_new_plot(const std::string& file);
void write_plot(const Plot& plot, const std::string& file);

}  // namespace trireme::cli
