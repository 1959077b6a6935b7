// Many image files decoded into one column of bytes, on all cores.
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
  std::unique_ptr<std::uint8_t[]> pixels;  // of the good ones, one after another
  std::vector<bool> good;                  // of every file: it could be read
  std::vector<std::string> notes;          // for the user
};

// Images become the wanted shape; without one they must have one size (grey ones among coloured become coloured). User
// errors: an image that cannot be read (the first in the order of the files; with skip_bad it is left out and counted
// in a note), sizes that differ, more than 16 GB. `name` is what the user called the data.
ImageColumn decode_images(const std::vector<std::filesystem::path>& files, std::optional<tensor::Shape> wanted,
                          const std::string& name, bool skip_bad);

}  // namespace trireme::data
