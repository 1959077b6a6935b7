// Image files of every kind, made with the encoders of libpng and libjpeg.
#pragma once

#include <png.h>

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "data/helpers.h"
#include "data/readers/images/image_file.h"

namespace trireme::data {

struct PngKind {
  int colour_type = PNG_COLOR_TYPE_RGB;
  int bits = 8;
  bool interlaced = false;
  std::vector<png_color> palette{};
  std::vector<png_byte> palette_alpha{};
  int transparent_grey = -1;  // the value that is transparent
  Bytes exif{};
};

// The rows are packed as in the file: several pixels in a byte below 8 bits, two bytes for a value of 16.
inline Bytes make_png(std::uint32_t width, const std::vector<Bytes>& rows, const PngKind& kind) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  Bytes file;
  const auto put = [](png_structp to, png_bytep data, std::size_t count) {
    auto& bytes = *static_cast<Bytes*>(png_get_io_ptr(to));
    bytes.insert(bytes.end(), data, data + count);
  };
  png_set_write_fn(png, &file, put, nullptr);
  png_set_IHDR(png, info, width, static_cast<png_uint_32>(rows.size()), kind.bits, kind.colour_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!kind.palette.empty()) png_set_PLTE(png, info, kind.palette.data(), static_cast<int>(kind.palette.size()));
  if (!kind.palette_alpha.empty())
    png_set_tRNS(png, info, kind.palette_alpha.data(), static_cast<int>(kind.palette_alpha.size()), nullptr);
  png_color_16 transparent{};
  transparent.gray = static_cast<png_uint_16>(kind.transparent_grey);
  if (kind.transparent_grey >= 0) png_set_tRNS(png, info, nullptr, 0, &transparent);
  Bytes exif = kind.exif;
  if (!exif.empty()) png_set_eXIf_1(png, info, static_cast<png_uint_32>(exif.size()), exif.data());
  png_write_info(png, info);
  std::vector<Bytes> copy = rows;
  std::vector<png_bytep> pointers;
  for (Bytes& row : copy) pointers.push_back(row.data());
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

inline Bytes make_jpeg(std::uint32_t width, std::uint32_t height, J_COLOR_SPACE space, const Bytes& values,
                       bool progressive = false) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = static_cast<int>(values.size() / width / height);
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  Bytes copy = values;
  const std::size_t row_bytes = values.size() / height;
  for (std::size_t y = 0; y < height; ++y) {
    JSAMPROW row = copy.data() + y * row_bytes;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  const Bytes file(memory, memory + size);
  jpeg_destroy_compress(&jpeg);
  std::free(memory);
  return file;
}

// A TIFF structure with an orientation, as EXIF has it, after one other entry.
inline Bytes make_tiff(int orientation, bool big_endian) {
  Bytes tiff;
  const auto put = [&](unsigned value, int bytes) {
    for (int k = 0; k < bytes; ++k)
      tiff.push_back(static_cast<std::uint8_t>(value >> 8 * (big_endian ? bytes - 1 - k : k)));
  };
  tiff.assign(2, big_endian ? 'M' : 'I');
  put(42, 2), put(8, 4), put(2, 2);
  put(0x0100, 2), put(4, 2), put(1, 4), put(640, 4);
  put(0x0112, 2), put(3, 2), put(1, 4), put(static_cast<unsigned>(orientation), 2), put(0, 2);
  put(0, 4);
  return tiff;
}

// The JPEG file with this EXIF block behind its first two bytes.
inline Bytes with_exif(const Bytes& jpeg, const Bytes& tiff) {
  const std::size_t length = 2 + 6 + tiff.size();
  Bytes file{
      0xff, 0xd8, 0xff, 0xe1, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length), 'E', 'x',
      'i',  'f',  0,    0};
  file.insert(file.end(), tiff.begin(), tiff.end());
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

// An image of one colour, as a PNG file.
inline Bytes plain_png(std::int64_t rows, std::int64_t columns, const Bytes& colour) {
  Image image{static_cast<std::int64_t>(colour.size()), rows, columns, {}};
  for (const std::uint8_t value : colour)
    image.pixels.insert(image.pixels.end(), static_cast<std::size_t>(rows * columns), value);
  return encode_png(image);
}

}  // namespace trireme::data
