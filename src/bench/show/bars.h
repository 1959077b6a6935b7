// Stacked bars in groups, as an SVG picture.
#pragma once

#include <string>
#include <vector>

namespace trireme::bench {

struct Bar {
  std::string name;           // below it
  std::string text;           // above it
  std::vector<double> parts;  // from below; one of each of Bars::parts
};

struct BarGroup {
  std::string name;
  std::vector<Bar> bars;
};

struct Bars {
  std::string title, y;
  std::vector<std::string> parts;  // what the parts are called
  std::vector<BarGroup> groups;
};

std::string to_svg(const Bars& bars);

}  // namespace trireme::bench
