// Bars: groups of stacked bars, as an SVG file. Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

namespace trireme::watch {

struct Bar {
  std::string name;           // shown below the bar
  std::string text;           // shown above the bar
  std::vector<double> parts;  // from bottom to top; one value per entry of Bars::parts
};

struct BarGroup {
  std::string name;
  std::vector<Bar> bars;
};

struct Bars {
  std::string title, y;
  std::vector<std::string> parts;  // names of the parts
  std::vector<BarGroup> groups;
};

std::string to_svg(const Bars& bars);

}  // namespace trireme::watch
