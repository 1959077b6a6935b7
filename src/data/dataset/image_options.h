// ImageOptions: the size that images of files get, and how. Plain values.
#pragma once

#include <cstdint>
#include <optional>

namespace trireme::data {

// How an image gets another size: stretched; cut to the new shape around its centre; or whole, with black on two sides.
enum class ImageFit { stretch, crop, pad };

struct ImageSize {
  std::int64_t rows = 0, columns = 0;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

struct ImageOptions {
  std::optional<ImageSize> size{};  // of all images; none: the network's, else one that follows from the images
  ImageFit fit = ImageFit::stretch;
  bool turn_upright = true;  // as the camera noted (EXIF orientation)
};

}  // namespace trireme::data
