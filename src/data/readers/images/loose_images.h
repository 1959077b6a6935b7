// Images without labels, to predict: one file, a folder of images without class folders, or a list of files.
// Thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "data/readers/data_request.h"

namespace trireme::data {

// True if request.name is a file with the name of a PNG or JPEG image.
bool is_image_file(const DataRequest& request);

// The images in this order, scaled like those of a folder (image_folder.h). User errors name the image.
DataPair open_loose_images(const std::vector<std::filesystem::path>& files, const DataRequest& request);

// One image, or the images directly in a folder, in natural order. No value for a folder with other folders inside:
// those are classes.
std::optional<DataPair> open_unlabelled_images(const DataRequest& request);

}  // namespace trireme::data
