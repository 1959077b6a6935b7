#include "data/readers/images/image_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "data/readers/image_settings.h"
#include "data/readers/images/image_exif.h"
#include "data/readers/images/image_file.h"
#include "data/readers/images/image_fit.h"
#include "data/readers/images/image_survey.h"
#include "data/readers/images/on_all_cores.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxBytes = 16.0 * (std::int64_t{1} << 30);

// No value for a bad image that is to be left out.
std::optional<Image> read_or_skip(const fs::path& path, bool skip_bad) {
  try {
    return read_image(path);
  } catch (const base::Error& error) {
    if (!skip_bad || error.kind() != base::ErrorKind::user) throw;
    return {};
  }
}

const char* how_fitted(ImageFit fit) {
  switch (fit) {
    case ImageFit::crop: return "cropped and resized";
    case ImageFit::pad: return "resized and padded with black";
    case ImageFit::stretch: break;
  }
  return "resized";
}

class Decoder {
 public:
  Decoder(const std::vector<fs::path>& files, const ImageColumnRequest& request)
      : files_(files), request_(request), state_(files.size()), changes_(files.size()) {
    column_.shape = request.shape ? *request.shape : shape_of_files();
  }

  ImageColumn decode() {
    const double bytes = static_cast<double>(files_.size()) * static_cast<double>(column_.shape.count());
    if (bytes > kMaxBytes)
      base::user_error("the {} images of {} need {} as {}, at most {} are loaded; use fewer or smaller ones",
                       files_.size(), request_.name, base::human_bytes(bytes), column_.shape.text(),
                       base::human_bytes(kMaxBytes));
    column_.pixels = std::make_unique_for_overwrite<std::uint8_t[]>(files_.size() * sample_bytes());
    on_all_cores(files_.size(), [&](std::size_t i) { decode_one(i); });
    close_gaps();
    add_notes();
    return std::move(column_);
  }

 private:
  enum class State : std::uint8_t { bad, same, resized };
  struct Changes {
    bool to_colour = false, to_grey = false, on_black = false, turned = false, rounded = false, from_cmyk = false;
  };

  std::size_t sample_bytes() const { return static_cast<std::size_t>(column_.shape.count()); }

  // The shape for all images, from their headers.
  tensor::Shape shape_of_files() {
    std::int64_t colours = 1;
    std::vector<ImageSize> sizes;
    for (const auto& head : read_image_heads(files_, request_.skip_bad))
      if (head) {
        colours = std::max(colours, head->colours);
        sizes.push_back(size_of(*head, request_.options.turn_upright));
      }
    if (sizes.empty()) base::user_error("none of the {} images of {} can be read", files_.size(), request_.name);
    ImageSize size = sizes.front();
    if (request_.options.size) {
      size = *request_.options.size;
    } else if (std::ranges::adjacent_find(sizes, std::ranges::not_equal_to()) != sizes.end()) {
      column_.chosen_size = size = usual_size(sizes);
      column_.notes.push_back(
          fmt::format("the images have different sizes; all get {}, which follows from the median of the shorter "
                      "sides; --image-size asks for another",
                      size_text(size)));
    }
    return {colours, size.rows, size.columns};
  }

  void decode_one(std::size_t i) {
    std::optional<Image> image = read_or_skip(files_[i], request_.skip_bad);
    state_[i] = State::bad;
    if (!image) return;
    const tensor::Shape& shape = column_.shape;
    Changes& changes = changes_[i];
    changes = {image->colours<shape[0], image->colours> shape[0], image->transparent, false, image->bits == 16,
               image->cmyk};
    if (request_.options.turn_upright && image->orientation != 1) {
      changes.turned = true;
      image = turn_upright(*std::move(image));
    }
    fit_image(*image, shape, request_.options.fit, column_.pixels.get() + i * sample_bytes());
    state_[i] = image->rows == shape[1] && image->columns == shape[2] ? State::same : State::resized;
  }

  // Moves the good images together.
  void close_gaps() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      column_.good.push_back(state_[i] != State::bad);
      if (!column_.good[i]) continue;
      std::uint8_t* pixels = column_.pixels.get();
      if (kept != i) std::memcpy(pixels + kept * sample_bytes(), pixels + i * sample_bytes(), sample_bytes());
      ++kept;
    }
  }

  void add_notes() {
    const auto bad = std::ranges::find(state_, State::bad);
    if (bad != state_.end())
      column_.notes.push_back(fmt::format("{} of {} images cannot be read and are left out, the first is {}",
                                          std::ranges::count(state_, State::bad), files_.size(),
                                          files_[static_cast<std::size_t>(bad - state_.begin())].string()));
    const std::string all = base::counted(static_cast<std::int64_t>(files_.size()), "image");
    if (const auto resized = std::ranges::count(state_, State::resized); resized > 0)
      column_.notes.push_back(fmt::format("{} of {} {} to {}x{}", resized, all, how_fitted(request_.options.fit),
                                          column_.shape[1], column_.shape[2]));
    const auto say = [&](bool Changes::*change, const char* what) {
      const auto count = std::ranges::count_if(changes_, [&](const Changes& c) { return c.*change; });
      if (count > 0) column_.notes.push_back(fmt::format("{} of {} {}", count, all, what));
    };
    say(&Changes::turned, "turned upright as the camera noted (EXIF; --image-upright no leaves them)");
    say(&Changes::to_colour, "grey, repeated for three colours");
    say(&Changes::to_grey, "coloured, converted to grey");
    say(&Changes::on_black, "transparent, laid on black");
    say(&Changes::rounded, "of 16 bits per value, rounded to 8");
    say(&Changes::from_cmyk, "CMYK, converted to RGB");
  }

  const std::vector<fs::path>& files_;
  const ImageColumnRequest& request_;
  ImageColumn column_;
  std::vector<State> state_;
  std::vector<Changes> changes_;
};

}  // namespace

ImageColumn decode_images(const std::vector<fs::path>& files, const ImageColumnRequest& request) {
  return Decoder(files, request).decode();
}

}  // namespace trireme::data
