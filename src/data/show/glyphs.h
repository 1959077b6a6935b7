// A small bitmap font for pictures: ASCII, five pixels wide and seven high. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trireme::data {

inline constexpr int kGlyphWidth = 5, kGlyphHeight = 7, kGlyphDrop = 2;

// One row of a character, 0 <= row < 7, as five bits; the highest is the leftmost pixel. Non-ASCII characters are drawn
// as '?'.
unsigned glyph_row(char character, int row);

// By how many rows a character is lowered: kGlyphDrop for descenders, else 0.
int glyph_drop(char character);

// Converts UTF-8 to ASCII: one '?' per other character, a space per control character.
std::string drawable(std::string_view text);

}  // namespace trireme::data
