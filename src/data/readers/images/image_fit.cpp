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

// The part of an axis that is resized: `length` source positions from `begin` on.
struct Part {
  double begin = 0, length = 0;
};

std::vector<Mix> plan_axis(std::int64_t in, const Part& part, std::int64_t out) {
  const double step = part.length / static_cast<double>(out);
  std::vector<Mix> plan;
  for (std::int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<double>(i);
    plan.push_back(part.length > static_cast<double>(out)
                       ? mean_of_part(in, part.begin + at * step, part.begin + (at + 1) * step)
                       : between_two(in, std::max(0.0, part.begin + (at + 0.5) * step - 0.5)));
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

void resize_part(const Image& image, const Part& rows, const Part& columns, const tensor::Shape& shape,
                 std::uint8_t* to) {
  const auto down = plan_axis(image.rows, rows, shape[1]), across = plan_axis(image.columns, columns, shape[2]);
  std::vector<float> narrow(static_cast<std::size_t>(image.rows * shape[2]));
  for (std::int64_t c = 0; c < shape[0]; ++c)
    resize_plane(image.pixels.data() + c * image.rows * image.columns, image.columns, down, across, narrow,
                 to + c * shape[1] * shape[2]);
}

// The largest part in the middle with the shape's proportions.
void crop_image(const Image& image, const tensor::Shape& shape, std::uint8_t* to) {
  const auto part = [](std::int64_t in, std::int64_t out, double scale) {
    const double length = std::min(static_cast<double>(out) / scale, static_cast<double>(in));
    return Part{(static_cast<double>(in) - length) / 2, length};
  };
  const double scale = std::max(static_cast<double>(shape[1]) / static_cast<double>(image.rows),
                                static_cast<double>(shape[2]) / static_cast<double>(image.columns));
  resize_part(image, part(image.rows, shape[1], scale), part(image.columns, shape[2], scale), shape, to);
}

// The whole image, as large as it fits in, on black.
void pad_image(const Image& image, const tensor::Shape& shape, std::uint8_t* to) {
  const double scale = std::min(static_cast<double>(shape[1]) / static_cast<double>(image.rows),
                                static_cast<double>(shape[2]) / static_cast<double>(image.columns));
  const auto side = [scale](std::int64_t in, std::int64_t out) {
    return std::clamp<std::int64_t>(std::llround(static_cast<double>(in) * scale), 1, out);
  };
  const tensor::Shape inner{shape[0], side(image.rows, shape[1]), side(image.columns, shape[2])};
  std::vector<std::uint8_t> small(static_cast<std::size_t>(inner.count()));
  fit_image(image, inner, ImageFit::stretch, small.data());
  std::fill_n(to, shape.count(), std::uint8_t{0});
  const std::int64_t top = (shape[1] - inner[1]) / 2, left = (shape[2] - inner[2]) / 2;
  const std::uint8_t* from = small.data();
  for (std::int64_t c = 0; c < shape[0]; ++c)
    for (std::int64_t y = 0; y < inner[1]; ++y, from += inner[2])
      std::copy_n(from, inner[2], to + (c * shape[1] + top + y) * shape[2] + left);
}

}  // namespace

void fit_image(const Image& image, const tensor::Shape& shape, ImageFit fit, std::uint8_t* to) {
  base::check(shape.rank() == 3 && (shape[0] == 1 || shape[0] == 3) && shape.count() > 0, "images made {}",
              shape.text());
  if (image.colours != shape[0]) return fit_image(with_colours(image, shape[0]), shape, fit, to);
  if (image.shape() == shape) {
    std::copy(image.pixels.begin(), image.pixels.end(), to);
    return;
  }
  switch (fit) {
    case ImageFit::crop: return crop_image(image, shape, to);
    case ImageFit::pad: return pad_image(image, shape, to);
    case ImageFit::stretch:
      return resize_part(image, {0, static_cast<double>(image.rows)}, {0, static_cast<double>(image.columns)}, shape,
                         to);
  }
}

}  // namespace trireme::data
