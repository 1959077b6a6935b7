#include "data/readers/images/image_exif.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace trireme::data {
namespace {

using Exif = std::span<const std::uint8_t>;

constexpr unsigned kOrientationTag = 0x0112, kShortType = 3;
constexpr std::size_t kEntryBytes = 12;
constexpr std::array<std::uint8_t, 6> kExifStart = {'E', 'x', 'i', 'f', 0, 0};

// Reads numbers of either byte order. Offsets outside the bytes give no value.
class TiffNumbers {
 public:
  TiffNumbers(Exif bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  std::optional<unsigned> of_two(std::size_t at) const { return number(at, 2); }
  std::optional<std::size_t> of_four(std::size_t at) const { return number(at, 4); }

 private:
  std::optional<unsigned> number(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) return {};
    unsigned value = 0;
    for (std::size_t k = 0; k < count; ++k) value = value << 8 | bytes_[at + (big_endian_ ? k : count - 1 - k)];
    return value;
  }

  Exif bytes_;
  bool big_endian_;
};

}  // namespace

int tiff_orientation(Exif tiff) {
  if (tiff.size() < 8 || tiff[0] != tiff[1] || (tiff[0] != 'I' && tiff[0] != 'M')) return 1;
  const TiffNumbers numbers(tiff, tiff[0] == 'M');
  if (numbers.of_two(2) != 42u) return 1;
  const std::size_t directory = numbers.of_four(4).value_or(tiff.size());
  const unsigned entries = numbers.of_two(directory).value_or(0);  // no value: beyond the end
  for (unsigned i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (numbers.of_two(entry) != kOrientationTag) continue;
    const unsigned value = numbers.of_two(entry + 8).value_or(1);
    const bool is_good = numbers.of_two(entry + 2) == kShortType && numbers.of_four(entry + 4) == 1u;
    return is_good && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

int jpeg_orientation(Exif jpeg) {
  // Segments: 0xff, marker, length (two bytes, themselves included), content. Pixels follow the marker SOS.
  constexpr unsigned kApp1 = 0xe1, kStartOfScan = 0xda;
  const TiffNumbers numbers(jpeg, true);
  for (std::size_t at = 2; at + 4 <= jpeg.size();) {
    if (jpeg[at] != 0xff) return 1;
    const unsigned marker = jpeg[at + 1];
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    const std::size_t length = numbers.of_two(at + 2).value_or(0);
    if (marker == kStartOfScan || length < 2 || length > jpeg.size() - at - 2) return 1;
    const Exif content = jpeg.subspan(at + 4, length - 2);
    if (marker == kApp1 && content.size() >= kExifStart.size() &&
        std::equal(kExifStart.begin(), kExifStart.end(), content.begin()))
      return tiff_orientation(content.subspan(kExifStart.size()));
    at += 2 + length;
  }
  return 1;
}

Image turn_upright(Image image) {
  const int orientation = std::exchange(image.orientation, 1);
  if (orientation == 1) return image;
  const std::int64_t rows = image.rows, columns = image.columns;
  Image turned = image;
  if (swaps_sides(orientation)) std::swap(turned.rows, turned.columns);
  // Pixel (y, x) of the upright image is pixel (row, column) of the stored one.
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  std::uint8_t* to = turned.pixels.data();
  for (std::int64_t c = 0; c < image.colours; ++c) {
    const std::uint8_t* plane = image.pixels.data() + c * rows * columns;
    for (std::int64_t y = 0; y < turned.rows; ++y)
      for (std::int64_t x = 0; x < turned.columns; ++x) {
        const std::int64_t down = swaps_sides(orientation) ? x : y, across = swaps_sides(orientation) ? y : x;
        const std::int64_t row = from_below ? rows - 1 - down : down;
        *to++ = plane[row * columns + (from_right ? columns - 1 - across : across)];
      }
  }
  return turned;
}

}  // namespace trireme::data
