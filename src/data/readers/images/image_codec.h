// The PNG and JPEG decoders behind image_file.h, and their shared checks. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "data/readers/images/image_file.h"

namespace trireme::data {

Image decode_png(std::span<const std::uint8_t> bytes, const std::string& name);
Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name);
ImageHead decode_png_head(std::span<const std::uint8_t> bytes, const std::string& name);
ImageHead decode_jpeg_head(std::span<const std::uint8_t> bytes, const std::string& name);

[[noreturn]] void damaged_image(const std::string& name, const char* kind, const char* cause);

// User error if an image with `values` bytes per pixel exceeds the limits of image_file.h.
void check_image_size(const std::string& name, std::uint64_t rows, std::uint64_t columns, std::uint64_t values);

// An image whose pixels the decoder fills in.
Image empty_image(std::size_t colours, std::size_t rows, std::size_t columns);

}  // namespace trireme::data
