#include "data/readers/image_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text/text.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kMostPixelsEachWay = 4096;
const std::array<std::string, 3> kFitNames = {"stretch", "crop", "pad"};  // in the order of ImageFit
constexpr std::array<std::int64_t, 7> kUsualSides = {16, 24, 32, 48, 64, 96, 128};

}  // namespace

const std::string& fit_name(ImageFit fit) { return kFitNames[static_cast<std::size_t>(fit)]; }

std::optional<ImageFit> fit_of(std::string_view name) {
  const auto found = std::find(kFitNames.begin(), kFitNames.end(), name);
  if (found == kFitNames.end()) return {};
  return static_cast<ImageFit>(found - kFitNames.begin());
}

std::string size_text(const ImageSize& size) { return fmt::format("{}x{}", size.rows, size.columns); }

std::optional<ImageSize> parse_image_size(const std::string& label, std::string_view text) {
  if (text == "auto") return {};
  const auto number = [&](std::string_view part) -> std::int64_t {
    if (part.empty() || part.size() > 6 || part.find_first_not_of("0123456789") != std::string_view::npos) return 0;
    return base::parse_int(label, part);
  };
  const std::size_t times = text.find('x');
  const ImageSize size{number(text.substr(0, times)),
                       number(times == std::string_view::npos ? text : text.substr(times + 1))};
  const auto is_good = [](std::int64_t side) { return side >= 1 && side <= kMostPixelsEachWay; };
  if (!is_good(size.rows) || !is_good(size.columns))
    base::user_error("{} is '{}', expected N (NxN pixels), ROWSxCOLUMNS, each 1 ... {}, or auto", label, text,
                     kMostPixelsEachWay);
  return size;
}

ImageOptions read_image_options(const base::Settings& settings) {
  const std::array<std::string, 2> words{"yes", "no"};
  ImageOptions options;
  options.size = parse_image_size(settings.label("image-size"), settings.text("image-size"));
  options.fit = *fit_of(settings.choice("image-fit", kFitNames));
  options.turn_upright = settings.choice("image-upright", words) == "yes";
  return options;
}

ImageSize usual_size(const std::vector<ImageSize>& sizes) {
  std::vector<std::int64_t> sides;
  for (const ImageSize& size : sizes) sides.push_back(std::min(size.rows, size.columns));
  base::check(!sides.empty(), "the usual size of {} images", sides.size());
  const auto middle = sides.begin() + static_cast<std::ptrdiff_t>((sides.size() - 1) / 2);
  std::nth_element(sides.begin(), middle, sides.end());
  std::int64_t side = std::min(*middle, kUsualSides.front());
  for (const std::int64_t usual : kUsualSides)
    if (usual <= *middle) side = usual;
  return {side, side};
}

}  // namespace trireme::data
