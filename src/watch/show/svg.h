// Shared by the plots: colours, text, and the SVG file.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace trireme::watch {

// Distinguishable with colour blindness (Okabe and Ito).
inline constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#000000", "#999999"};

// The start of a white picture of this size, with a title.
std::string svg_head(double width, double height, double left, const std::string& title);
// A filled circle, square, triangle or diamond: lines are told apart without colours, too.
std::string svg_mark(std::size_t number, double x, double y, const char* colour);
std::string svg_escaped(const std::string& text);

// User error if the file of this option exists or is not named *.svg. Called before any work is done.
void expect_new_plot(const std::string& file, const char* option = "--plot");

}  // namespace trireme::watch
