// Images in files: PNG and JPEG into bytes and back. Everything happens in memory, so that damaged files can be tried
// without a disk. Values are those of the file: colour profiles and gamma are not applied, nor is the orientation that
// a camera notes.
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

  tensor::Shape shape() const { return {colours, rows, columns}; }
};

// What is read at most; larger ones are refused before memory is taken.
inline constexpr std::int64_t kMaxImageSide = 16384;
inline constexpr std::int64_t kMaxImageBytes = std::int64_t{256} << 20;

// PNG (grey, colour, palette, 1 ... 16 bits, interlaced; a transparent one is laid on black) or JPEG (grey, colour,
// CMYK), told by its first bytes. A damaged, cut-off or too large one is a user error that names `name`.
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

// The file's content decoded; user errors name the path.
Image read_image(const std::filesystem::path& path);

// A PNG file of 8 bits per value: grey or RGB.
std::vector<std::uint8_t> encode_png(const Image& image);

}  // namespace trireme::data
