// PNG by libpng. The library reports an error through a callback that must not return: it jumps (longjmp) to the setjmp
// of the current step. So each step is a function of its own without objects that have destructors. Memory is allocated
// between the steps, and an object outside owns what the library allocates.
#include <png.h>

#include <array>
#include <csetjmp>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "data/readers/images/image_codec.h"
#include "data/readers/images/image_exif.h"

namespace trireme::data {
namespace {

struct PngComplaint {
  std::array<char, 200> text{};
};

void on_png_error(png_structp png, png_const_charp text) {
  auto& complaint = *static_cast<PngComplaint*>(png_get_error_ptr(png));
  std::strncpy(complaint.text.data(), text, complaint.text.size() - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

class PngReader {
 public:
  explicit PngReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &complaint_, on_png_error, on_warning);
    if (png_) info_ = png_create_info_struct(png_);
    base::check(png_ && info_, "libpng {} gives no reader", PNG_LIBPNG_VER_STRING);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // The steps, in this order. False: failed, complaint() gives the reason.
  bool read_head() noexcept;
  bool choose_output() noexcept;
  bool read_rows(std::uint8_t* pixels) noexcept;

  const char* complaint() const { return complaint_.text.data(); }
  std::size_t rows() const { return png_get_image_height(png_, info_); }
  std::size_t columns() const { return png_get_image_width(png_, info_); }
  std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  std::size_t values() const { return png_get_channels(png_, info_); }  // 1 ... 4: grey or RGB, perhaps with alpha
  int bits() const { return png_get_bit_depth(png_, info_); }           // as stored, before choose_output()
  int orientation() const;
  const char* mode() const;
  bool is_grey() const { return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) == 0; }

 private:
  static void take(png_structp png, png_bytep to, std::size_t count) {
    auto& rest = static_cast<PngReader*>(png_get_io_ptr(png))->rest_;
    if (count > rest.size()) png_error(png, "it is cut short");
    std::memcpy(to, rest.data(), count);
    rest = rest.subspan(count);
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  PngComplaint complaint_;
  std::span<const std::uint8_t> rest_;
  int passes_ = 1;
};

bool PngReader::read_head() noexcept {
  if (setjmp(png_jmpbuf(png_))) return false;
  png_set_read_fn(png_, this, take);
  png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);  // no limit: check_image_size() gives a better message
  png_read_info(png_, info_);
  return true;
}

int PngReader::orientation() const {
  png_uint_32 length = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(png_, info_, &length, &exif) == 0 || exif == nullptr) return 1;
  return tiff_orientation({exif, length});
}

const char* PngReader::mode() const {
  const int type = png_get_color_type(png_, info_);
  if (type == PNG_COLOR_TYPE_PALETTE) return "palette";
  const bool alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  if (is_grey()) return alpha ? "grey+alpha" : "grey";
  return alpha ? "RGBA" : "RGB";
}

// Output of 8 bits per value, with an alpha channel if the image has any transparency.
bool PngReader::choose_output() noexcept {
  if (setjmp(png_jmpbuf(png_))) return false;
  png_set_expand(png_);
  png_set_scale_16(png_);
  passes_ = png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  return true;
}

bool PngReader::read_rows(std::uint8_t* pixels) noexcept {
  if (setjmp(png_jmpbuf(png_))) return false;
  for (int pass = 0; pass < passes_; ++pass)
    for (std::size_t y = 0; y < rows(); ++y) png_read_row(png_, pixels + y * columns() * values(), nullptr);
  png_read_end(png_, nullptr);
  return true;
}

std::uint8_t on_black(unsigned value, unsigned alpha) { return static_cast<std::uint8_t>((value * alpha + 127) / 255); }

class Writer {
 public:
  explicit Writer(const Image& image) : image_(image) {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &complaint_, on_png_error, on_warning);
    if (png_) info_ = png_create_info_struct(png_);
    base::check(png_ && info_, "libpng {} gives no writer", PNG_LIBPNG_VER_STRING);
  }
  ~Writer() { png_destroy_write_struct(&png_, &info_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  bool write_head() noexcept;
  bool write_row(const std::uint8_t* values) noexcept;
  bool write_end() noexcept;

  const char* complaint() const { return complaint_.text.data(); }
  std::vector<std::uint8_t> bytes;

 private:
  // Must not throw: libpng is C code.
  bool append(const std::uint8_t* from, std::size_t count) noexcept try {
    bytes.insert(bytes.end(), from, from + count);
    return true;
  } catch (...) {
    return false;
  }
  static void put(png_structp png, png_bytep from, std::size_t count) {
    if (!static_cast<Writer*>(png_get_io_ptr(png))->append(from, count)) png_error(png, "out of memory");
  }
  static void flush(png_structp) {}

  const Image& image_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  PngComplaint complaint_;
};

bool Writer::write_head() noexcept {
  if (setjmp(png_jmpbuf(png_))) return false;
  png_set_write_fn(png_, this, put, flush);
  png_set_IHDR(png_, info_, static_cast<png_uint_32>(image_.columns), static_cast<png_uint_32>(image_.rows), 8,
               image_.colours == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png_, info_);
  return true;
}

bool Writer::write_row(const std::uint8_t* values) noexcept {
  if (setjmp(png_jmpbuf(png_))) return false;
  png_write_row(png_, values);
  return true;
}

bool Writer::write_end() noexcept {
  if (setjmp(png_jmpbuf(png_))) return false;
  png_write_end(png_, info_);
  return true;
}

}  // namespace

Image decode_png(std::span<const std::uint8_t> bytes, const std::string& name) {
  PngReader reader(bytes);
  if (!reader.read_head()) damaged_image(name, "PNG", reader.complaint());
  check_image_size(name, reader.rows(), reader.columns(), 4);
  const int bits = reader.bits(), orientation = reader.orientation();
  if (!reader.choose_output()) damaged_image(name, "PNG", reader.complaint());
  const std::size_t values = reader.values(), colours = values < 3 ? 1 : 3;
  base::check(values >= 1 && values <= 4 && reader.row_bytes() == reader.columns() * values,
              "{} values per pixel and {} bytes per row in {}", values, reader.row_bytes(), name);

  const std::size_t area = reader.rows() * reader.columns();
  std::vector<std::uint8_t> mixed(area * values);
  if (!reader.read_rows(mixed.data())) damaged_image(name, "PNG", reader.complaint());
  Image image = empty_image(colours, reader.rows(), reader.columns());
  image.bits = bits;
  image.orientation = orientation;
  for (std::size_t i = 0; i < area; ++i) {
    const std::uint8_t* pixel = &mixed[i * values];
    if (values != colours && pixel[colours] != 255) image.transparent = true;
    for (std::size_t c = 0; c < colours; ++c)
      image.pixels[c * area + i] = values == colours ? pixel[c] : on_black(pixel[c], pixel[colours]);
  }
  return image;
}

ImageHead decode_png_head(std::span<const std::uint8_t> bytes, const std::string& name) {
  PngReader reader(bytes);
  if (!reader.read_head()) damaged_image(name, "PNG", reader.complaint());
  check_image_size(name, reader.rows(), reader.columns(), 4);
  return {reader.is_grey() ? 1 : 3,
          static_cast<std::int64_t>(reader.rows()),
          static_cast<std::int64_t>(reader.columns()),
          reader.mode(),
          reader.bits(),
          reader.orientation()};
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  const auto colours = static_cast<std::size_t>(image.colours), columns = static_cast<std::size_t>(image.columns),
             area = static_cast<std::size_t>(image.rows) * columns;
  base::check((colours == 1 || colours == 3) && area > 0 && image.pixels.size() == colours * area,
              "an image of {} with {} bytes", image.shape().text(), image.pixels.size());
  Writer writer(image);
  bool good = writer.write_head();
  std::vector<std::uint8_t> row(columns * colours);
  for (std::size_t start = 0; good && start < area; start += columns) {
    for (std::size_t x = 0; x < columns; ++x)
      for (std::size_t c = 0; c < colours; ++c) row[x * colours + c] = image.pixels[c * area + start + x];
    good = writer.write_row(row.data());
  }
  if (!good || !writer.write_end()) base::run_error("a PNG image cannot be made: {}", writer.complaint());
  return std::move(writer.bytes);
}

}  // namespace trireme::data
