#include "data/readers/images/image_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/system/files.h"
#include "data/readers/images/image_codec.h"

namespace trireme::data {
namespace {

constexpr std::array<std::uint8_t, 8> kPngStart = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 3> kJpegStart = {0xff, 0xd8, 0xff};

template <std::size_t N>
bool starts_with(std::span<const std::uint8_t> bytes, const std::array<std::uint8_t, N>& start) {
  return bytes.size() >= N && std::equal(start.begin(), start.end(), bytes.begin());
}

}  // namespace

void damaged_image(const std::string& name, const char* kind, const char* cause) {
  base::user_error("{} is a damaged {} image ({}); replace or remove it, or leave out damaged images with --skip-bad",
                   name, kind, cause);
}

void check_image_size(const std::string& name, std::uint64_t rows, std::uint64_t columns, std::uint64_t values) {
  constexpr auto kSide = static_cast<std::uint64_t>(kMaxImageSide), kBytes = static_cast<std::uint64_t>(kMaxImageBytes);
  if (rows < 1 || columns < 1 || rows > kSide || columns > kSide)
    base::user_error("{}: an image of {}x{} pixels (rows x columns), expected 1 ... {} each way", name, rows, columns,
                     kSide);
  if (rows * columns * values > kBytes)
    base::user_error("{}: an image of {}x{} pixels needs {} bytes, at most {} are read; make it smaller", name, rows,
                     columns, rows * columns * values, kBytes);
}

Image empty_image(std::size_t colours, std::size_t rows, std::size_t columns) {
  return {static_cast<std::int64_t>(colours), static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
          std::vector<std::uint8_t>(colours * rows * columns), false};
}

namespace {

[[noreturn]] void refuse_format(std::span<const std::uint8_t> bytes, const std::string& name) {
  if (bytes.empty()) base::user_error("{} is empty, a PNG or JPEG image was expected", name);
  std::string start;
  for (const std::uint8_t byte : bytes.first(std::min<std::size_t>(bytes.size(), 4)))
    start += fmt::format(" {:02x}", byte);
  base::user_error("{} is neither a PNG nor a JPEG image: it begins with{}", name, start);
}

std::vector<std::byte> read_image_bytes(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > static_cast<std::uintmax_t>(kMaxImageBytes))
    base::user_error("{} has {} bytes, too many for an image; at most {} are read", path.string(), size,
                     kMaxImageBytes);
  return base::read_file(path);
}

std::span<const std::uint8_t> as_image(const std::vector<std::byte>& content) {
  return {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()};
}

}  // namespace

Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name) {
  if (starts_with(bytes, kPngStart)) return decode_png(bytes, name);
  if (starts_with(bytes, kJpegStart)) return decode_jpeg(bytes, name);
  refuse_format(bytes, name);
}

ImageHead decode_image_head(std::span<const std::uint8_t> bytes, const std::string& name) {
  if (starts_with(bytes, kPngStart)) return decode_png_head(bytes, name);
  if (starts_with(bytes, kJpegStart)) return decode_jpeg_head(bytes, name);
  refuse_format(bytes, name);
}

Image read_image(const std::filesystem::path& path) {
  return decode_image(as_image(read_image_bytes(path)), path.string());
}

ImageHead read_image_head(const std::filesystem::path& path) {
  return decode_image_head(as_image(read_image_bytes(path)), path.string());
}

}  // namespace trireme::data
