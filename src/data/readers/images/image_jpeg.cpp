// JPEG by libjpeg-turbo. Errors leave the library by longjmp as in image_png.cpp, with the same rule: a step that can
// jump holds no object with a destructor.
#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it
#include <utility>

#include <jpeglib.h>

#include <jerror.h>

#include "base/error.h"
#include "data/readers/images/image_codec.h"
#include "data/readers/images/image_exif.h"

namespace trireme::data {
namespace {

// More than any encoder writes. A small file with countless scans would take hours.
constexpr int kMaxScans = 500;

struct JpegComplaint : jpeg_error_mgr {
  std::array<char, JMSG_LENGTH_MAX> text{};
  std::jmp_buf step;
};

void on_jpeg_error(j_common_ptr jpeg) {
  auto& complaint = *static_cast<JpegComplaint*>(jpeg->err);
  complaint.format_message(jpeg, complaint.text.data());
  std::longjmp(complaint.step, 1);
}

// The library only warns when pixels are lost and fills them with grey: here that is an error. Other warnings are
// ignored.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC: on_jpeg_error(jpeg); break;
    default: break;
  }
}

void on_progress(j_common_ptr jpeg) {
  const auto* reader = reinterpret_cast<j_decompress_ptr>(jpeg);
  if (reader->input_scan_number <= kMaxScans) return;
  jpeg->err->msg_code = JERR_BAD_PROGRESSION;
  on_jpeg_error(jpeg);
}

class JpegReader {
 public:
  explicit JpegReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    jpeg_.err = jpeg_std_error(&complaint_);
    complaint_.error_exit = on_jpeg_error;
    complaint_.emit_message = on_message;
    progress_.progress_monitor = on_progress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // The steps, in this order. False: failed, complaint() gives the reason.
  bool read_head() noexcept;
  bool start() noexcept;
  bool read_row(std::uint8_t* values) noexcept;
  bool finish() noexcept;

  const char* complaint() const { return complaint_.text.data(); }
  std::size_t rows() const { return jpeg_.image_height; }
  std::size_t columns() const { return jpeg_.image_width; }
  std::size_t values() const { return static_cast<std::size_t>(jpeg_.output_components); }
  bool is_grey() const { return jpeg_.jpeg_color_space == JCS_GRAYSCALE; }
  bool is_cmyk() const { return jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK; }
  // Adobe's programs write complemented CMYK; hardly any other program writes CMYK.
  bool is_complement() const { return jpeg_.saw_Adobe_marker; }

 private:
  std::span<const std::uint8_t> bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_progress_mgr progress_{};
  JpegComplaint complaint_{};
};

bool JpegReader::read_head() noexcept {
  if (setjmp(complaint_.step)) return false;
  jpeg_create_decompress(&jpeg_);
  jpeg_.progress = &progress_;
  jpeg_mem_src(&jpeg_, bytes_.data(), static_cast<unsigned long>(bytes_.size()));
  jpeg_read_header(&jpeg_, TRUE);
  return true;
}

bool JpegReader::start() noexcept {
  if (setjmp(complaint_.step)) return false;
  switch (jpeg_.jpeg_color_space) {
    case JCS_GRAYSCALE: jpeg_.out_color_space = JCS_GRAYSCALE; break;
    case JCS_CMYK:
    case JCS_YCCK: jpeg_.out_color_space = JCS_CMYK; break;
    default: jpeg_.out_color_space = JCS_RGB;
  }
  jpeg_start_decompress(&jpeg_);
  return true;
}

bool JpegReader::read_row(std::uint8_t* values) noexcept {
  if (setjmp(complaint_.step)) return false;
  JSAMPROW row = values;
  jpeg_read_scanlines(&jpeg_, &row, 1);
  return true;
}

bool JpegReader::finish() noexcept {
  if (setjmp(complaint_.step)) return false;
  jpeg_finish_decompress(&jpeg_);
  return true;
}

// Converts CMYK to RGB.
void cmyk_to_rgb(std::vector<std::uint8_t>& row, std::size_t columns, bool is_complement) {
  const unsigned flip = is_complement ? 0 : 255;
  for (std::size_t x = 0; x < columns; ++x)
    for (std::size_t c = 0; c < 3; ++c)
      row[x * 3 + c] = static_cast<std::uint8_t>(((row[x * 4 + c] ^ flip) * (row[x * 4 + 3] ^ flip) + 127u) / 255u);
}

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name) {
  JpegReader reader(bytes);
  const auto expect = [&](bool good) {
    if (!good) damaged_image(name, "JPEG", reader.complaint());
  };
  expect(reader.read_head());
  check_image_size(name, reader.rows(), reader.columns(), 4);
  expect(reader.start());

  const std::size_t values = reader.values(), colours = values == 1 ? 1 : 3;
  base::check(values == 1 || values == 3 || values == 4, "{} values per pixel in {}", values, name);
  const std::size_t columns = reader.columns(), area = reader.rows() * columns;
  Image image = empty_image(colours, reader.rows(), columns);
  image.cmyk = values == 4;
  image.orientation = jpeg_orientation(bytes);
  std::vector<std::uint8_t> row(columns * values);
  for (std::size_t start = 0; start < area; start += columns) {
    expect(reader.read_row(row.data()));
    if (values == 4) cmyk_to_rgb(row, columns, reader.is_complement());
    for (std::size_t c = 0; c < colours; ++c)
      for (std::size_t x = 0; x < columns; ++x) image.pixels[c * area + start + x] = row[x * colours + c];
  }
  expect(reader.finish());
  return image;
}

ImageHead decode_jpeg_head(std::span<const std::uint8_t> bytes, const std::string& name) {
  JpegReader reader(bytes);
  if (!reader.read_head()) damaged_image(name, "JPEG", reader.complaint());
  check_image_size(name, reader.rows(), reader.columns(), 4);
  return {reader.is_grey() ? 1 : 3,
          static_cast<std::int64_t>(reader.rows()),
          static_cast<std::int64_t>(reader.columns()),
          reader.is_grey()   ? "grey"
          : reader.is_cmyk() ? "CMYK"
                             : "RGB",
          8,
          jpeg_orientation(bytes)};
}

}  // namespace trireme::data
