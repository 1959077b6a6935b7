#include "watch/show/svg.h"

#include <fmt/format.h>

#include <fstream>

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
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{}\" y=\"28\" font-size=\"17\">{}</text>\n",
      width, height, left, svg_escaped(title));
}

void expect_new_plot(const std::string& file, const char* option) {
  if (!file.ends_with(".svg")) base::user_error("{} is '{}', expected a name that ends in .svg", option, file);
  base::check_new_file(option, file);
}

void write_svg(const std::string& svg, const std::string& file) {
  std::ofstream out(file);
  out << svg;
  out.close();
  if (!out) base::user_error("cannot write {}", file);
}

}  // namespace trireme::watch
