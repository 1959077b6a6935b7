// ImageSurvey: sizes and kinds of many image files, from their headers alone. Immutable once made; thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/image_options.h"
#include "data/readers/images/image_file.h"

namespace trireme::data {

// Per file; no value for one whose header cannot be read, if `skip_bad` (else it is a user error).
std::vector<std::optional<ImageHead>> read_image_heads(const std::vector<std::filesystem::path>& files, bool skip_bad);

// The size as it is seen, or as it is stored.
ImageSize size_of(const ImageHead& head, bool turn_upright);

struct ImageSurvey {
  std::int64_t images = 0, unreadable = 0;
  std::int64_t turned = 0;                    // with an EXIF orientation other than upright
  std::int64_t deep = 0;                      // of 16 bits per value
  std::vector<ImageSize> sizes;               // of the readable images, the smallest area first
  std::map<std::string, std::int64_t> modes;  // "grey", "RGB", "RGBA", ...: how many
};
ImageSurvey survey_images(const std::vector<std::filesystem::path>& files, bool turn_upright);

// "all of 32x32 pixels"; "from 30x40 to 480x640 pixels, 12 sizes" (rows x columns). REQUIRES: sorted, not empty.
std::string sizes_text(const std::vector<ImageSize>& sizes);

}  // namespace trireme::data
