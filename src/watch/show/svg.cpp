#include "watch/show/svg.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/system/files.h"

namespace trireme::watch {

std::string svg_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

std::string svg_head(double width, double height, double left, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"28\" font-size=\"17\">{3}</text>\n",
      width, height, left, svg_escaped(title));
}

std::string svg_mark(std::size_t number, double x, double y, const char* colour) {
  const auto polygon = [&](const char* points) {
    return fmt::format("<polygon points=\"{}\" transform=\"translate({:.1f} {:.1f})\" fill=\"{}\"/>\n", points, x, y,
                       colour);
  };
  switch (number % 4) {
    case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x, y, colour);
    case 1: return polygon("-3.2,-3.2 3.2,-3.2 3.2,3.2 -3.2,3.2");
    case 2: return polygon("0,-4.4 4.2,3.2 -4.2,3.2");
    default: return polygon("0,-4.8 4.8,0 0,4.8 -4.8,0");
  }
}

void expect_new_plot(const std::string& file, const char* option) {
  if (!file.ends_with(".svg")) base::user_error("{} is '{}', expected a name that ends in .svg", option, file);
  base::check_new_file(option, file);
}

}  // namespace trireme::watch
