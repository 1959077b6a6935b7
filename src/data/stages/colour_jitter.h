// Colour jitter: changes brightness, contrast, saturation and hue of an image. Pure functions; thread-safe.
#pragma once

#include <cstdint>

namespace trireme::data {

// brightness b, contrast c: value -> b (c (value - m) + m), with m the mean luma of the image. saturation s and hue:
// the difference of a pixel's colour from its luma (0.299 red + 0.587 green + 0.114 blue) is multiplied by s and turned
// in the plane of U and V; luma stays. All are linear, so their order does not matter.
struct ColourChange {
  float brightness = 1, contrast = 1, saturation = 1;
  float hue_cosine = 1, hue_sine = 0;

  bool is_none() const { return !changes_light() && !changes_colour(); }
  bool changes_light() const { return brightness != 1 || contrast != 1; }
  bool changes_colour() const { return saturation != 1 || hue_sine != 0 || hue_cosine != 1; }
};

// Changes channels x pixels values in place and keeps them at `most` or below, and from 0 on where `most` is finite.
// Other than three channels are no colours: they have brightness and contrast alone, and their mean as luma.
void change_colours(const ColourChange& change, float most, std::int64_t channels, std::int64_t pixels, float* values);

}  // namespace trireme::data
