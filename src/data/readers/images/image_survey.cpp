#include "data/readers/images/image_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "data/readers/image_settings.h"
#include "data/readers/images/image_exif.h"
#include "data/readers/images/on_all_cores.h"

namespace trireme::data {

namespace fs = std::filesystem;

std::vector<std::optional<ImageHead>> read_image_heads(const std::vector<fs::path>& files, bool skip_bad) {
  std::vector<std::optional<ImageHead>> heads(files.size());
  on_all_cores(files.size(), [&](std::size_t i) {
    try {
      heads[i] = read_image_head(files[i]);
    } catch (const base::Error& error) {
      if (!skip_bad || error.kind() != base::ErrorKind::user) throw;
    }
  });
  return heads;
}

ImageSize size_of(const ImageHead& head, bool turn_upright) {
  if (turn_upright && swaps_sides(head.orientation)) return {head.columns, head.rows};
  return {head.rows, head.columns};
}

ImageSurvey survey_images(const std::vector<fs::path>& files, bool turn_upright) {
  ImageSurvey survey;
  survey.images = static_cast<std::int64_t>(files.size());
  for (const auto& head : read_image_heads(files, true)) {
    if (!head) {
      ++survey.unreadable;
      continue;
    }
    survey.sizes.push_back(size_of(*head, turn_upright));
    ++survey.modes[head->mode];
    survey.turned += head->orientation != 1;
    survey.deep += head->bits == 16;
  }
  std::ranges::sort(survey.sizes, {},
                    [](const ImageSize& size) { return std::pair(size.rows * size.columns, size.rows); });
  return survey;
}

std::string sizes_text(const std::vector<ImageSize>& sizes) {
  std::set<std::pair<std::int64_t, std::int64_t>> all;
  for (const ImageSize& size : sizes) all.insert({size.rows, size.columns});
  if (all.size() == 1) return fmt::format("all of {} pixels", size_text(sizes.front()));
  return fmt::format("from {} to {} pixels, {} sizes", size_text(sizes.front()), size_text(sizes.back()), all.size());
}

}  // namespace trireme::data
