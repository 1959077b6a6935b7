// EXIF orientation: against the words of the EXIF standard, and damaged blocks.
#include "data/readers/images/image_exif.h"

#include <array>

#include "data/readers/images/image_helpers.h"

namespace trireme::data {
namespace {

TEST(Exif, OrientationOfEitherByteOrder) {
  for (const bool big_endian : {false, true}) {
    for (int value = 1; value <= 8; ++value) EXPECT_EQ(tiff_orientation(make_tiff(value, big_endian)), value);
    for (const int value : {0, 9, 256}) EXPECT_EQ(tiff_orientation(make_tiff(value, big_endian)), 1);
  }
}

TEST(Exif, IsFoundInJpegAndPng) {
  const Bytes jpeg = make_jpeg(3, 2, JCS_GRAYSCALE, Bytes(6, 100));
  EXPECT_EQ(jpeg_orientation(jpeg), 1);
  EXPECT_EQ(jpeg_orientation(with_exif(jpeg, make_tiff(6, true))), 6);
  EXPECT_EQ(decode_image(with_exif(jpeg, make_tiff(8, false)), "x").orientation, 8);
  EXPECT_EQ(decode_image_head(with_exif(jpeg, make_tiff(8, false)), "x").orientation, 8);
  const Bytes png = make_png(3, {{1, 2, 250}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .exif = make_tiff(3, true)});
  EXPECT_EQ(decode_image(png, "x").orientation, 3);
  EXPECT_EQ(decode_image_head(png, "x").orientation, 3);
}

TEST(Exif, DamagedBlocksCountAsUpright) {
  const Bytes tiff = make_tiff(6, true);
  const std::size_t end_of_value = 8 + 2 + 12 + 8 + 2;  // header, count, first entry, second entry up to its value
  for (std::size_t length = 0; length < tiff.size(); ++length)
    EXPECT_EQ(tiff_orientation(std::span(tiff).first(length)), length < end_of_value ? 1 : 6) << length;
  for (const std::size_t place : {0, 1, 3, 4, 5, 6, 7})  // byte order, 42, offset of the directory
    for (const int change : {0x40, 0xff}) {
      Bytes damaged = tiff;
      damaged[place] = static_cast<std::uint8_t>(damaged[place] ^ change);
      EXPECT_EQ(tiff_orientation(damaged), 1) << place;
    }
  Bytes many = tiff;
  many[8] = many[9] = 0xff;  // 65535 entries
  many[8 + 2 + 12] = 0x77;   // none of them the orientation
  EXPECT_EQ(tiff_orientation(many), 1);
  const Bytes jpeg = with_exif(make_jpeg(3, 2, JCS_GRAYSCALE, Bytes(6, 100)), tiff);
  for (std::size_t length = 0; length < jpeg.size(); ++length) (void)jpeg_orientation(std::span(jpeg).first(length));
  Bytes other = jpeg;
  other[6] = 'X';  // another kind of APP1
  EXPECT_EQ(jpeg_orientation(other), 1);
}

// The standard says of each value which visual side the stored row 0 and column 0 are.
enum class Side { top, right, bottom, left };
struct Meaning {
  Side row_0, column_0;
};
constexpr std::array<Meaning, 8> kMeanings = {{{Side::top, Side::left},
                                               {Side::top, Side::right},
                                               {Side::bottom, Side::right},
                                               {Side::bottom, Side::left},
                                               {Side::left, Side::top},
                                               {Side::right, Side::top},
                                               {Side::right, Side::bottom},
                                               {Side::left, Side::bottom}}};

TEST(Exif, TurnedImagesLieAsTheStandardSays) {
  constexpr std::int64_t kRows = 2, kColumns = 3;
  for (int value = 1; value <= 8; ++value) {
    Image stored{3, kRows, kColumns, {}};
    for (std::uint8_t i = 0; i < 18; ++i) stored.pixels.push_back(i);
    stored.orientation = value;
    const Image upright = turn_upright(stored);
    EXPECT_EQ(upright.orientation, 1);
    EXPECT_EQ(upright.rows, value < 5 ? kRows : kColumns) << value;
    EXPECT_EQ(upright.columns, value < 5 ? kColumns : kRows) << value;
    const Meaning& meaning = kMeanings[static_cast<std::size_t>(value - 1)];
    for (std::int64_t c = 0; c < 3; ++c)
      for (std::int64_t row = 0; row < kRows; ++row)
        for (std::int64_t column = 0; column < kColumns; ++column) {
          std::int64_t y = 0, x = 0;
          const auto place = [&](Side side, std::int64_t away) {
            if (side == Side::top) y = away;
            if (side == Side::bottom) y = upright.rows - 1 - away;
            if (side == Side::left) x = away;
            if (side == Side::right) x = upright.columns - 1 - away;
          };
          place(meaning.row_0, row);
          place(meaning.column_0, column);
          EXPECT_EQ(upright.pixels[static_cast<std::size_t>((c * upright.rows + y) * upright.columns + x)],
                    stored.pixels[static_cast<std::size_t>((c * kRows + row) * kColumns + column)])
              << value << ": " << row << ", " << column;
        }
  }
}

}  // namespace
}  // namespace trireme::data
