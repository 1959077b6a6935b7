// PNG and JPEG images of every kind, and damaged ones.
#include <algorithm>

#include "data/readers/images/image_fit.h"
#include "data/readers/images/image_helpers.h"

namespace trireme::data {
namespace {

void expect_image(const Bytes& file, const tensor::Shape& shape, const Bytes& pixels) {
  const Image image = decode_image(file, "x");
  EXPECT_EQ(image.shape(), shape);
  EXPECT_EQ(image.pixels, pixels);
}

TEST(Png, GreyOfEveryDepth) {
  expect_image(make_png(9, {{0b10100000, 0b10000000}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .bits = 1}), {1, 1, 9},
               {255, 0, 255, 0, 0, 0, 0, 0, 255});
  expect_image(make_png(4, {{0b00011011}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .bits = 2}), {1, 1, 4},
               {0, 85, 170, 255});
  expect_image(make_png(2, {{0x1f}, {0x70}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .bits = 4}), {1, 2, 2},
               {17, 255, 119, 0});
  expect_image(make_png(3, {{1, 2, 250}}, {.colour_type = PNG_COLOR_TYPE_GRAY}), {1, 1, 3}, {1, 2, 250});
  expect_image(make_png(3, {{0, 200, 0x80, 0, 0xff, 0xff}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .bits = 16}),
               {1, 1, 3}, {1, 128, 255});
}

TEST(Png, ColourAndPalette) {
  expect_image(make_png(2, {{1, 2, 3, 4, 5, 6}}, {}), {3, 1, 2}, {1, 4, 2, 5, 3, 6});
  expect_image(make_png(1, {{0xff, 0xff, 0x40, 0, 0, 0}}, {.bits = 16}), {3, 1, 1}, {255, 64, 0});
  const PngKind palette{.colour_type = PNG_COLOR_TYPE_PALETTE, .bits = 2, .palette = {{9, 8, 7}, {6, 5, 4}, {3, 2, 1}}};
  expect_image(make_png(3, {{0b10010000}}, palette), {3, 1, 3}, {3, 6, 9, 2, 5, 8, 1, 4, 7});
}

TEST(Png, TransparentOnesLieOnBlack) {
  expect_image(make_png(3, {{200, 255, 200, 0, 200, 128}}, {.colour_type = PNG_COLOR_TYPE_GRAY_ALPHA}), {1, 1, 3},
               {200, 0, 100});
  expect_image(make_png(2, {{10, 20, 30, 255, 100, 110, 120, 51}}, {.colour_type = PNG_COLOR_TYPE_RGB_ALPHA}),
               {3, 1, 2}, {10, 20, 20, 22, 30, 24});
  const PngKind palette{
      .colour_type = PNG_COLOR_TYPE_PALETTE, .palette = {{90, 80, 70}, {60, 50, 40}}, .palette_alpha = {0}};
  expect_image(make_png(2, {{0, 1}}, palette), {3, 1, 2}, {0, 60, 0, 50, 0, 40});
  expect_image(make_png(2, {{7, 8}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .transparent_grey = 7}), {1, 1, 2}, {0, 8});
}

TEST(Png, InterlacedIsTheSame) {
  std::vector<Bytes> rows;
  for (int y = 0; y < 11; ++y) {
    rows.emplace_back();
    for (int x = 0; x < 13 * 3; ++x) rows.back().push_back(static_cast<std::uint8_t>(y * 20 + x * 3));
  }
  const Image plain = decode_image(make_png(13, rows, {}), "x");
  const Image laced = decode_image(make_png(13, rows, {.interlaced = true}), "x");
  EXPECT_EQ(plain.shape(), (tensor::Shape{3, 11, 13}));
  EXPECT_EQ(plain.pixels, laced.pixels);
}

TEST(Png, WhatIsWrittenIsReadBack) {
  for (const std::int64_t colours : {1, 3}) {
    Image image{colours, 5, 7, {}};
    for (std::int64_t i = 0; i < colours * 35; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i * 7));
    expect_image(encode_png(image), image.shape(), image.pixels);
  }
}

// JPEG loses a little even at its best quality.
void expect_near(const Image& image, const tensor::Shape& shape, const Bytes& pixels, int tolerance) {
  ASSERT_EQ(image.shape(), shape);
  for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_NEAR(image.pixels[i], pixels[i], tolerance) << i;
}

TEST(Jpeg, GreyAndColour) {
  const Bytes grey = {100, 101, 102, 103, 104, 105};
  expect_near(decode_image(make_jpeg(3, 2, JCS_GRAYSCALE, grey), "x"), {1, 2, 3}, grey, 2);
  expect_near(decode_image(make_jpeg(2, 1, JCS_RGB, {200, 100, 50, 200, 100, 50}), "x"), {3, 1, 2},
              {200, 200, 100, 100, 50, 50}, 3);
  expect_near(decode_image(make_jpeg(2, 1, JCS_RGB, {200, 100, 50, 200, 100, 50}, true), "x"), {3, 1, 2},
              {200, 200, 100, 100, 50, 50}, 3);
}

// Adobe's way, which libjpeg's encoder follows with its marker: 255 is no ink.
TEST(Jpeg, CmykBecomesColour) {
  expect_near(decode_image(make_jpeg(1, 1, JCS_CMYK, {255, 128, 0, 255}), "x"), {3, 1, 1}, {255, 128, 0}, 3);
  expect_near(decode_image(make_jpeg(1, 1, JCS_CMYK, {255, 128, 0, 128}), "x"), {3, 1, 1}, {128, 64, 0}, 3);
}

TEST(ImageFile, HeadsSayWhatDecodingGives) {
  const PngKind palette{.colour_type = PNG_COLOR_TYPE_PALETTE, .palette = {{9, 8, 7}, {6, 5, 4}}};
  const std::vector<std::pair<Bytes, std::string>> files = {
      {make_png(3, {{1, 2, 250}}, {.colour_type = PNG_COLOR_TYPE_GRAY}), "grey"},
      {make_png(3, {{1, 2, 250}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .transparent_grey = 7}), "grey+alpha"},
      {make_png(1, {{200, 255}}, {.colour_type = PNG_COLOR_TYPE_GRAY_ALPHA}), "grey+alpha"},
      {make_png(1, {{1, 2, 3, 4}}, {.colour_type = PNG_COLOR_TYPE_RGB_ALPHA}), "RGBA"},
      {make_png(1, {{1, 2, 3, 4, 5, 6}}, {.bits = 16}), "RGB"},
      {make_png(2, {{0, 1}}, palette), "palette"},
      {make_jpeg(3, 2, JCS_GRAYSCALE, Bytes(6, 100)), "grey"},
      {make_jpeg(2, 1, JCS_RGB, {200, 100, 50, 200, 100, 50}), "RGB"},
      {make_jpeg(1, 1, JCS_CMYK, {255, 128, 0, 255}), "CMYK"}};
  for (const auto& [file, mode] : files) {
    const Image image = decode_image(file, "x");
    const ImageHead head = decode_image_head(file, "x");
    EXPECT_EQ(tensor::Shape({head.colours, head.rows, head.columns}), image.shape()) << mode;
    EXPECT_EQ(head.mode, mode);
    EXPECT_EQ(head.bits, image.bits);
    EXPECT_EQ(image.cmyk, mode == "CMYK");
  }
  expect_user_error([] { decode_image_head(Bytes{'G', 'I', 'F', '8'}, "a/b.png"); }, {"a/b.png", "neither"});
}

TEST(ImageFile, OtherContentIsNamed) {
  expect_user_error([] { decode_image({}, "a/b.png"); }, {"a/b.png", "empty"});
  expect_user_error([] { decode_image(Bytes{'G', 'I', 'F', '8', '9'}, "a/b.png"); }, {"a/b.png", "47 49 46 38"});
  expect_user_error([] { decode_image(Bytes{0x89}, "a/b.png"); }, {"neither"});
  expect_user_error([] { read_image("/nonexistent/b.png"); }, {"/nonexistent/b.png"});
}

TEST(ImageFile, CutOffFilesAreNamed) {
  Bytes noise;
  for (int i = 0; i < 6 * 5 * 3; ++i) noise.push_back(static_cast<std::uint8_t>(i * 37));
  const Bytes png = encode_png({3, 5, 6, noise});
  for (std::size_t length = 0; length < png.size(); ++length)
    expect_user_error([&] { decode_image(std::span(png).first(length), "cut.png"); }, {"cut.png"});
  for (const bool progressive : {false, true}) {
    const Bytes jpeg = make_jpeg(6, 5, JCS_RGB, noise, progressive);
    for (std::size_t length = 0; length + 2 < jpeg.size(); ++length)
      expect_user_error([&] { decode_image(std::span(jpeg).first(length), "cut.jpg"); }, {"cut.jpg"});
  }
}

// An image or a user error, never anything else.
void try_it(const Bytes& file) try {
  const Image image = decode_image(file, "damaged");
  EXPECT_EQ(static_cast<std::int64_t>(image.pixels.size()), image.shape().count());
} catch (const base::Error& error) {
  EXPECT_EQ(error.kind(), base::ErrorKind::user) << error.what();
}

TEST(ImageFile, DamagedFilesNeverCrash) {
  Bytes noise;
  for (int i = 0; i < 6 * 5 * 3; ++i) noise.push_back(static_cast<std::uint8_t>(i * 37));
  const PngKind palette{.colour_type = PNG_COLOR_TYPE_PALETTE, .bits = 2, .palette = {{9, 8, 7}, {6, 5, 4}}};
  for (const Bytes& file :
       {encode_png({3, 5, 6, noise}), make_png(3, {{0b00010000}}, palette), make_jpeg(6, 5, JCS_RGB, noise),
        make_jpeg(6, 5, JCS_RGB, noise, true), make_jpeg(9, 10, JCS_GRAYSCALE, noise)})
    for (std::size_t i = 0; i < file.size(); ++i)
      for (const int change : {0x01, 0x80, 0xff}) {
        Bytes damaged = file;
        damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ change);
        try_it(damaged);
      }
}

// A header with other sizes and its checksum made right.
Bytes png_of_size(std::uint32_t width, std::uint32_t height) {
  Bytes file = plain_png(1, 1, {0});
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (const std::size_t k : {0, 1, 2, 3}) file[at + k] = static_cast<std::uint8_t>(value >> (24 - 8 * k));
  };
  put(16, width);
  put(20, height);
  put(29, static_cast<std::uint32_t>(crc32(0, file.data() + 12, 17)));
  return file;
}

TEST(ImageFile, TooLargeOnesAreRefused) {
  expect_user_error([] { decode_image(png_of_size(16385, 1), "wide.png"); }, {"wide.png", "1x16385", "16384"});
  expect_user_error([] { decode_image(png_of_size(16384, 16384), "big.png"); }, {"big.png", "1073741824", "bytes"});
  Bytes jpeg = make_jpeg(8, 8, JCS_GRAYSCALE, Bytes(64, 9));
  const Bytes head = {0xff, 0xc0, 0, 11, 8};
  const auto at = std::search(jpeg.begin(), jpeg.end(), head.begin(), head.end());
  ASSERT_NE(at, jpeg.end());
  std::fill_n(at + 5, 4, std::uint8_t{0x7f});
  expect_user_error([&] { decode_image(jpeg, "big.jpg"); }, {"big.jpg", "32639x32639"});
}

Bytes fit(const Image& image, const tensor::Shape& shape, ImageFit how = ImageFit::stretch) {
  Bytes to(static_cast<std::size_t>(shape.count()));
  fit_image(image, shape, how, to.data());
  return to;
}

TEST(ImageFit, ShrinkingTakesTheMean) {
  const Image image{1, 2, 4, {0, 10, 20, 30, 40, 50, 60, 70}};
  EXPECT_EQ(fit(image, {1, 2, 4}), image.pixels);
  EXPECT_EQ(fit(image, {1, 1, 2}), (Bytes{25, 45}));
  EXPECT_EQ(fit(image, {1, 1, 1}), (Bytes{35}));
  EXPECT_EQ(fit({1, 1, 3, {0, 90, 210}}, {1, 1, 2}), (Bytes{30, 170}));  // a pixel and a half each
}

TEST(ImageFit, GrowingInterpolates) {
  EXPECT_EQ(fit({1, 1, 2, {0, 100}}, {1, 1, 4}), (Bytes{0, 25, 75, 100}));
  EXPECT_EQ(fit({1, 1, 2, {0, 100}}, {1, 2, 2}), (Bytes{0, 100, 0, 100}));
  EXPECT_EQ(fit({1, 2, 1, {0, 100}}, {1, 4, 1}), (Bytes{0, 25, 75, 100}));
  EXPECT_EQ(fit({1, 1, 4, {0, 20, 100, 120}}, {1, 2, 2}), (Bytes{10, 110, 10, 110}));  // one way each
}

TEST(ImageFit, CropTakesTheMiddle) {
  const Image wide{1, 2, 6, {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16}};
  EXPECT_EQ(fit(wide, {1, 2, 2}, ImageFit::crop), (Bytes{3, 4, 13, 14}));
  EXPECT_EQ(fit({1, 4, 1, {10, 20, 30, 40}}, {1, 2, 1}, ImageFit::crop), (Bytes{20, 30}));
  EXPECT_EQ(fit({1, 2, 8, {0, 0, 8, 8, 16, 16, 99, 99, 0, 0, 8, 8, 16, 16, 99, 99}}, {1, 1, 1}, ImageFit::crop),
            (Bytes{12}));  // 2x2 pixels of the middle
  // As the middle of the image resized to 2x6: its neighbours mix in.
  EXPECT_EQ(fit({1, 1, 3, {50, 90, 40}}, {1, 2, 2}, ImageFit::crop), (Bytes{80, 78, 80, 78}));
  EXPECT_EQ(fit({3, 1, 2, {1, 2, 3, 4, 5, 6}}, {3, 2, 4}, ImageFit::crop).size(), 24u);
}

TEST(ImageFit, PadKeepsAllOnBlack) {
  EXPECT_EQ(fit({1, 1, 3, {50, 90, 40}}, {1, 3, 3}, ImageFit::pad), (Bytes{0, 0, 0, 50, 90, 40, 0, 0, 0}));
  EXPECT_EQ(fit({1, 2, 1, {50, 90}}, {1, 2, 4}, ImageFit::pad), (Bytes{0, 50, 0, 0, 0, 90, 0, 0}));
  EXPECT_EQ(fit({3, 2, 4, Bytes(24, 200)}, {3, 2, 2}, ImageFit::pad),
            (Bytes{200, 200, 0, 0, 200, 200, 0, 0, 200, 200, 0, 0}));
  EXPECT_EQ(fit({1, 1, 3000, Bytes(3000, 9)}, {1, 3, 3}, ImageFit::pad), (Bytes{0, 0, 0, 9, 9, 9, 0, 0, 0}));
  EXPECT_EQ(fit({1, 2, 4, {0, 10, 20, 30, 40, 50, 60, 70}}, {1, 1, 2}, ImageFit::pad), (Bytes{25, 45}));
}

TEST(ImageFit, GreyAndColour) {
  EXPECT_EQ(fit({1, 1, 2, {7, 9}}, {3, 1, 2}), (Bytes{7, 9, 7, 9, 7, 9}));
  EXPECT_EQ(fit({3, 1, 1, {255, 0, 0}}, {1, 1, 1}), (Bytes{76}));
  EXPECT_EQ(fit({3, 1, 1, {255, 255, 255}}, {1, 1, 1}), (Bytes{255}));
  EXPECT_EQ(fit({3, 1, 2, {10, 20, 30, 40, 50, 60}}, {3, 1, 1}), (Bytes{15, 35, 55}));
}

}  // namespace
}  // namespace trireme::data
