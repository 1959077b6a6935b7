// Reads and writes PNG and JPEG. Decoding and encoding work in memory, so tests can try damaged files without a disk.
// Values are those of the file: colour profile, gamma and the camera's orientation tag are ignored.
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tensor/shape.h"

namespace trireme::data {

struct Image {
  std::int64_t colours = 0;  // 1: grey, 3: red, green, blue
  std::int64_t rows = 0, columns = 0;
  std::vector<std::uint8_t> pixels;  // colours x rows x columns
  bool transparent = false;          // it was, and was laid on black

  tensor::Shape shape() const { return {colours, rows, columns}; }
};

// Limits; larger images are refused before memory is allocated.
inline constexpr std::int64_t kMaxImageSide = 16384;
inline constexpr std::int64_t kMaxImageBytes = std::int64_t{256} << 20;

// Decodes PNG (grey, colour, palette, 1 ... 16 bits, interlaced; transparency is blended onto black) or JPEG (grey,
// colour, CMYK), recognised by the first bytes. A damaged, truncated or too large image is a user error that names
// `name`.
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

// Decodes a file; user errors name the path.
Image read_image(const std::filesystem::path& path);

// A PNG file with 8 bits per value, grey or RGB.
std::vector<std::uint8_t> encode_png(const Image& image);

}  // namespace trireme::data
