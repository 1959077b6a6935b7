// Reads and writes PNG and JPEG. Decoding and encoding work in memory, so tests can try damaged files without a disk.
// Values are those of the file: colour profile and gamma are ignored, and an image is not turned (image_exif.h does
// that). Pure functions; thread-safe.
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
  bool cmyk = false;                 // it was, and was converted
  int bits = 8;                      // per value, as stored; 16 were rounded
  int orientation = 1;               // EXIF: 1 upright, 2 ... 8 to be mirrored or turned

  tensor::Shape shape() const { return {colours, rows, columns}; }
};

// What a file says about its image before the pixels.
struct ImageHead {
  std::int64_t colours = 0, rows = 0, columns = 0;  // as decode_image() gives them
  const char* mode = "";                            // grey, grey+alpha, RGB, RGBA, palette or CMYK
  int bits = 8, orientation = 1;
};

// Limits; larger images are refused before memory is allocated.
inline constexpr std::int64_t kMaxImageSide = 16384;
inline constexpr std::int64_t kMaxImageBytes = std::int64_t{256} << 20;

// Decodes PNG (grey, colour, palette, 1 ... 16 bits, interlaced; transparency is blended onto black) or JPEG (grey,
// colour, CMYK), recognised by the first bytes. A damaged, truncated or too large image is a user error that names
// `name`.
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

// Reads the head alone; what comes after it may be damaged.
ImageHead decode_image_head(std::span<const std::uint8_t> bytes, const std::string& name);

// The same for files; user errors name the path.
Image read_image(const std::filesystem::path& path);
ImageHead read_image_head(const std::filesystem::path& path);

// A PNG file with 8 bits per value, grey or RGB.
std::vector<std::uint8_t> encode_png(const Image& image);

}  // namespace trireme::data
