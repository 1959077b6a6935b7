// What plots share: colours, text, and the file.
#pragma once

#include <array>
#include <string>

namespace trireme::bench {

// Told apart by people who see colours differently (after Okabe and Ito).
inline constexpr std::array kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#000000", "#999999"};

// The beginning of a picture of this size, white, with a title.
std::string svg_head(double width, double height, double left, const std::string& title);
std::string svg_escaped(const std::string& text);

// A user error where the file is there already or is not named *.svg: before any work.
void expect_new_plot(const std::string& file);
// A user error where it cannot be written.
void write_svg(const std::string& svg, const std::string& file);

}  // namespace trireme::bench
