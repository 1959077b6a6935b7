#include "data/readers/images/image_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "data/readers/images/image_file.h"
#include "data/readers/images/image_fit.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxBytes = 16.0 * (std::int64_t{1} << 30);

// Calls work(i) for every i < count on all cores. Starts no new i after a failure. Throws the failure with the smallest
// i, so the message does not depend on timing.
template <class Work>
void on_all_cores(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::size_t failed_at = count;
  std::exception_ptr failure;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        const std::scoped_lock lock(guard);
        next = count;
        if (i < failed_at) failed_at = i, failure = std::current_exception();
      }
  };
  {
    const std::size_t threads = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), count);
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

// No value for a bad image that is to be left out.
std::optional<Image> read_or_skip(const fs::path& path, bool skip_bad) {
  try {
    return read_image(path);
  } catch (const base::Error& error) {
    if (!skip_bad || error.kind() != base::ErrorKind::user) throw;
    return {};
  }
}

class Decoder {
 public:
  Decoder(const std::vector<fs::path>& files, std::optional<tensor::Shape> wanted, std::string name, bool skip_bad)
      : files_(files),
        name_(std::move(name)),
        skip_bad_(skip_bad),
        fixed_(wanted.has_value()),
        state_(files.size()),
        changes_(files.size()) {
    shape_ = wanted ? *wanted : first_shape();
  }

  ImageColumn decode() {
    const double bytes = static_cast<double>(files_.size()) * static_cast<double>(shape_.count());
    if (bytes > kMaxBytes)
      base::user_error("the {} images of {} need {} as {}, at most {} are loaded; use fewer or smaller ones",
                       files_.size(), name_, base::human_bytes(bytes), shape_.text(), base::human_bytes(kMaxBytes));
    pixels_ = std::make_unique_for_overwrite<std::uint8_t[]>(files_.size() * sample_bytes());
    on_all_cores(files_.size(), [&](std::size_t i) { decode_one(i); });
    if (found_colour_) {  // among grey images: all are converted to colour
      shape_[0] = 3;
      found_colour_ = false;
      return decode();
    }
    return finish();
  }

 private:
  enum class State : std::uint8_t { bad, same, resized };
  struct Changes {
    bool to_colour = false, to_grey = false, on_black = false;
  };

  std::size_t sample_bytes() const { return static_cast<std::size_t>(shape_.count()); }

  tensor::Shape first_shape() const {
    for (const fs::path& path : files_)
      if (const auto image = read_or_skip(path, skip_bad_)) return image->shape();
    base::user_error("none of the {} images of {} can be read", files_.size(), name_);
  }

  void decode_one(std::size_t i) {
    if (found_colour_) return;
    const auto image = read_or_skip(files_[i], skip_bad_);
    state_[i] = State::bad;
    if (!image) return;
    const bool same_size = image->rows == shape_[1] && image->columns == shape_[2];
    if (!fixed_ && !same_size)
      base::user_error(
          "{} has {}x{} pixels (rows x columns), the images before it have {}x{}; give all one size, or "
          "choose a network that takes images of a certain size",
          files_[i].string(), image->rows, image->columns, shape_[1], shape_[2]);
    if (!fixed_ && image->colours > shape_[0]) {
      found_colour_ = true;
      return;
    }
    fit_image(*image, shape_, pixels_.get() + i * sample_bytes());
    state_[i] = same_size ? State::same : State::resized;
    changes_[i] = {image->colours<shape_[0], image->colours> shape_[0], image->transparent};
  }

  // Closes the gaps left by bad images.
  ImageColumn finish() {
    ImageColumn column{shape_, nullptr, {}, {}};
    std::size_t kept = 0;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      column.good.push_back(state_[i] != State::bad);
      if (!column.good[i]) continue;
      if (kept != i)
        std::memcpy(pixels_.get() + kept * sample_bytes(), pixels_.get() + i * sample_bytes(), sample_bytes());
      ++kept;
    }
    column.pixels = std::move(pixels_);
    if (const auto bad = std::find(state_.begin(), state_.end(), State::bad); bad != state_.end())
      column.notes.push_back(fmt::format("{} of {} images cannot be read and are left out, the first is {}",
                                         files_.size() - kept, files_.size(),
                                         files_[static_cast<std::size_t>(bad - state_.begin())].string()));
    const std::string all = base::counted(static_cast<std::int64_t>(files_.size()), "image");
    if (const auto resized = std::count(state_.begin(), state_.end(), State::resized); resized > 0)
      column.notes.push_back(fmt::format("{} of {} resized to {}x{}", resized, all, shape_[1], shape_[2]));
    const auto say = [&](bool Changes::*change, const char* what) {
      const auto count = std::count_if(changes_.begin(), changes_.end(), [&](const Changes& c) { return c.*change; });
      if (count > 0) column.notes.push_back(fmt::format("{} of {} {}", count, all, what));
    };
    say(&Changes::to_colour, "grey, repeated for three colours");
    say(&Changes::to_grey, "coloured, converted to grey");
    say(&Changes::on_black, "transparent, laid on black");
    return column;
  }

  const std::vector<fs::path>& files_;
  std::string name_;
  bool skip_bad_, fixed_;
  tensor::Shape shape_;
  std::vector<State> state_;
  std::vector<Changes> changes_;
  std::unique_ptr<std::uint8_t[]> pixels_;
  std::atomic<bool> found_colour_{false};
};

}  // namespace

ImageColumn decode_images(const std::vector<fs::path>& files, std::optional<tensor::Shape> wanted,
                          const std::string& name, bool skip_bad) {
  return Decoder(files, std::move(wanted), name, skip_bad).decode();
}

}  // namespace trireme::data
