#include "data/readers/images/image_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace trireme::data {
namespace {

// The source positions and weights of one output position.
struct Mix {
  std::int64_t first = 0;
  std::vector<float> weights;
};

Mix mean_of_part(std::int64_t in, double from, double to) {
  Mix mix{static_cast<std::int64_t>(from), {}};
  for (std::int64_t k = mix.first; k < in && static_cast<double>(k) < to; ++k) {
    const double covered = std::min(to, static_cast<double>(k + 1)) - std::max(from, static_cast<double>(k));
    mix.weights.push_back(static_cast<float>(covered / (to - from)));
  }
  return mix;
}

Mix between_two(std::int64_t in, double centre) {
  const auto left = std::min(static_cast<std::int64_t>(centre), in - 1);
  if (left == in - 1) return {left, {1.0f}};
  const double share = centre - static_cast<double>(left);
  return {left, {static_cast<float>(1.0 - share), static_cast<float>(share)}};
}

std::vector<Mix> plan_axis(std::int64_t in, std::int64_t out) {
  const double step = static_cast<double>(in) / static_cast<double>(out);
  std::vector<Mix> plan;
  for (std::int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<double>(i);
    plan.push_back(in > out ? mean_of_part(in, at * step, (at + 1) * step)
                            : between_two(in, std::max(0.0, (at + 0.5) * step - 0.5)));
  }
  return plan;
}

std::uint8_t to_byte(float value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f)); }

// Resizes along the columns first (each source row once), then mixes rows.
void resize_plane(const std::uint8_t* from, std::int64_t in_columns, const std::vector<Mix>& down,
                  const std::vector<Mix>& across, std::vector<float>& narrow, std::uint8_t* to) {
  const auto columns = static_cast<std::int64_t>(across.size());
  const std::int64_t in_rows = static_cast<std::int64_t>(narrow.size()) / columns;
  for (std::int64_t y = 0; y < in_rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x) {
      const Mix& mix = across[static_cast<std::size_t>(x)];
      const std::uint8_t* source = from + y * in_columns + mix.first;
      float sum = 0;
      for (const float weight : mix.weights) sum += weight * static_cast<float>(*source++);
      narrow[static_cast<std::size_t>(y * columns + x)] = sum;
    }
  std::vector<float> row(static_cast<std::size_t>(columns));
  for (const Mix& mix : down) {
    std::fill(row.begin(), row.end(), 0.0f);
    const float* source = narrow.data() + mix.first * columns;
    for (const float weight : mix.weights) {
      for (std::size_t x = 0; x < row.size(); ++x) row[x] += weight * source[x];
      source += columns;
    }
    to = std::transform(row.begin(), row.end(), to, to_byte);
  }
}

Image with_colours(const Image& image, std::int64_t colours) {
  Image changed{colours, image.rows, image.columns, {}};
  const auto area = static_cast<std::size_t>(image.rows * image.columns);
  const std::uint8_t* red = image.pixels.data();
  if (colours == 3) {
    for (int c = 0; c < 3; ++c) changed.pixels.insert(changed.pixels.end(), red, red + area);
    return changed;
  }
  changed.pixels.resize(area);
  const std::uint8_t *green = red + area, *blue = green + area;
  for (std::size_t i = 0; i < area; ++i)
    changed.pixels[i] = static_cast<std::uint8_t>((299u * red[i] + 587u * green[i] + 114u * blue[i] + 500u) / 1000u);
  return changed;
}

}  // namespace

void fit_image(const Image& image, const tensor::Shape& shape, std::uint8_t* to) {
  base::check(shape.rank() == 3 && (shape[0] == 1 || shape[0] == 3) && shape.count() > 0, "images made {}",
              shape.text());
  if (image.colours != shape[0]) return fit_image(with_colours(image, shape[0]), shape, to);
  if (image.shape() == shape) {
    std::copy(image.pixels.begin(), image.pixels.end(), to);
    return;
  }
  const auto down = plan_axis(image.rows, shape[1]), across = plan_axis(image.columns, shape[2]);
  std::vector<float> narrow(static_cast<std::size_t>(image.rows * shape[2]));
  for (std::int64_t c = 0; c < shape[0]; ++c)
    resize_plane(image.pixels.data() + c * image.rows * image.columns, image.columns, down, across, narrow,
                 to + c * shape[1] * shape[2]);
}

}  // namespace trireme::data
