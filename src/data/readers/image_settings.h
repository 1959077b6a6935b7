// Reads ImageOptions from settings, for all verbs that open data. Pure functions; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/options.h"
#include "data/dataset/image_options.h"

namespace trireme::data {

const std::string& fit_name(ImageFit fit);  // "stretch", "crop", "pad"
std::optional<ImageFit> fit_of(std::string_view name);
std::string size_text(const ImageSize& size);  // "48x64"

// "64" is 64x64, "48x64" has 48 rows and 64 columns; no value for "auto". Others are user errors that begin with
// `label`.
std::optional<ImageSize> parse_image_size(const std::string& label, std::string_view text);

// The options image-size, image-fit and image-upright, which the settings' table must have.
ImageOptions read_image_options(const base::Settings& settings);

// The size for images of several sizes: square, the largest of 16, 24, 32, 48, 64, 96 and 128 that is at most the
// median of the shorter sides (that median itself if it is below 16). REQUIRES: at least one size.
ImageSize usual_size(const std::vector<ImageSize>& sizes);

}  // namespace trireme::data
