// Decodes many image files into one column of bytes, on all cores. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/image_options.h"
#include "tensor/shape.h"

namespace trireme::data {

struct ImageColumn {
  tensor::Shape shape{};                     // of every image
  std::unique_ptr<std::uint8_t[]> pixels{};  // of the good images, one after another
  std::vector<bool> good{};                  // per file: it could be read
  std::vector<std::string> notes{};          // for the user
  std::optional<ImageSize> chosen_size{};    // found from the sizes of the images, which differ
};

struct ImageColumnRequest {
  std::optional<tensor::Shape> shape{};  // of all images; without it, grey ones among coloured ones are converted
  ImageOptions options{};                // its size is for requests without a shape
  std::string name{};                    // what the user called the data
  bool skip_bad = false;
};

// Turns and scales images as the request says. Without shape and size, images of one size keep it, and others get
// usual_size(). User errors: an image that cannot be read (the first in the order of the files; with skip_bad it is
// left out and counted in a note), more than 16 GB.
ImageColumn decode_images(const std::vector<std::filesystem::path>& files, const ImageColumnRequest& request);

}  // namespace trireme::data
