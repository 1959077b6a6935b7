#include "data/stages/colour_jitter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace trireme::data {
namespace {

constexpr std::array kLuma = {0.299, 0.587, 0.114};
constexpr double kU = 0.492, kV = 0.877;  // U = 0.492 (blue - luma), V = 0.877 (red - luma)

using Matrix = std::array<std::array<float, 3>, 3>;

// L + s (cos (1 - L) + sin K): L gives each colour the luma, K turns what is left by a quarter.
Matrix colour_matrix(const ColourChange& change) {
  std::array<std::array<double, 3>, 3> quarter{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double red_rest = (k == 0 ? 1 : 0) - kLuma[k], blue_rest = (k == 2 ? 1 : 0) - kLuma[k];
    quarter[0][k] = kU / kV * blue_rest;
    quarter[2][k] = -kV / kU * red_rest;
    quarter[1][k] = -(kLuma[0] * quarter[0][k] + kLuma[2] * quarter[2][k]) / kLuma[1];  // no luma
  }
  const double s = static_cast<double>(change.saturation), cosine = static_cast<double>(change.hue_cosine),
               sine = static_cast<double>(change.hue_sine);
  Matrix matrix{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      matrix[i][k] = static_cast<float>(kLuma[k] + s * (cosine * ((i == k ? 1 : 0) - kLuma[k]) + sine * quarter[i][k]));
  return matrix;
}

// Adds in eight lanes that are combined in a fixed order.
double mean_of(const float* values, std::int64_t count) {
  constexpr std::int64_t kMeanLanes = 8;
  std::array<double, kMeanLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kMeanLanes <= count; i += kMeanLanes)
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      lanes[lane] += static_cast<double>(values[i + static_cast<std::int64_t>(lane)]);
  for (std::size_t lane = 0; i < count; ++i, ++lane) lanes[lane] += static_cast<double>(values[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum / static_cast<double>(count);
}

double mean_luma(std::int64_t channels, std::int64_t pixels, const float* values) {
  double mean = 0;
  for (std::int64_t c = 0; c < channels; ++c)
    mean += mean_of(values + c * pixels, pixels) *
            (channels == 3 ? kLuma[static_cast<std::size_t>(c)] : 1 / static_cast<double>(channels));
  return mean;
}

}  // namespace

void change_colours(const ColourChange& change, float most, std::int64_t channels, std::int64_t pixels, float* values) {
  const std::int64_t count = channels * pixels;
  if (change.is_none() || count == 0) return;
  if (change.changes_light()) {
    const double brightness = static_cast<double>(change.brightness), contrast = static_cast<double>(change.contrast);
    const auto factor = static_cast<float>(brightness * contrast);
    const auto add = change.contrast == 1
                         ? 0.0f
                         : static_cast<float>(brightness * (1 - contrast) * mean_luma(channels, pixels, values));
    for (std::int64_t i = 0; i < count; ++i) values[i] = values[i] * factor + add;
  }
  if (change.changes_colour() && channels == 3) {
    const Matrix m = colour_matrix(change);
    float *red = values, *green = red + pixels, *blue = green + pixels;
    for (std::int64_t i = 0; i < pixels; ++i) {
      const float r = red[i], g = green[i], b = blue[i];
      red[i] = m[0][0] * r + m[0][1] * g + m[0][2] * b;
      green[i] = m[1][0] * r + m[1][1] * g + m[1][2] * b;
      blue[i] = m[2][0] * r + m[2][1] * g + m[2][2] * b;
    }
  }
  if (std::isinf(most)) return;
  for (std::int64_t i = 0; i < count; ++i) values[i] = std::min(std::max(values[i], 0.0f), most);
}

}  // namespace trireme::data
