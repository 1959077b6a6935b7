// A small bitmap font for pictures: ASCII, five pixels wide and seven high.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trireme::data {

inline constexpr int kGlyphWidth = 5, kGlyphHeight = 7, kGlyphDrop = 2;

// One row of a character, 0 <= row < 7, as five bits, the leftmost pixel highest. What is not in ASCII is drawn as '?'.
unsigned glyph_row(char character, int row);

// How many rows lower a character stands: kGlyphDrop for those that reach below the line, else 0.
int glyph_drop(char character);

// UTF-8 made ASCII: one '?' for each other character, a space for each control character.
std::string drawable(std::string_view text);

}  // namespace trireme::data
