// Decodes many image files into one column of bytes, on all cores. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensor/shape.h"

namespace trireme::data {

struct ImageColumn {
  tensor::Shape shape;                     // of every image
  std::unique_ptr<std::uint8_t[]> pixels;  // of the good images, one after another
  std::vector<bool> good;                  // per file: it could be read
  std::vector<std::string> notes;          // for the user
};

// Scales images to the wanted shape; without one, all must have one size (grey images among coloured ones are
// converted). User errors: an image that cannot be read (the first in the order of the files; with skip_bad it is left
// out and counted in a note), different sizes, more than 16 GB. `name`: what the user called the data.
ImageColumn decode_images(const std::vector<std::filesystem::path>& files, std::optional<tensor::Shape> wanted,
                          const std::string& name, bool skip_bad);

}  // namespace trireme::data
