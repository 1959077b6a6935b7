// Lists the images in a folder of class folders, without decoding them. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

// Natural order ("img2" before "img10"): digits are compared as numbers, everything else byte by byte.
bool natural_less(std::string_view a, std::string_view b);

struct ImageList {
  std::vector<std::string> class_names;  // the folders' names in natural order
  std::vector<std::filesystem::path> files;
  std::vector<std::int64_t> labels;  // per file
  std::int64_t ignored = 0;          // hidden files and files that are not images
};

// True for names that end in .png, .jpg or .jpeg, in upper or lower case.
bool is_image_name(const std::filesystem::path& path);

// The folders directly inside, in natural order; links to folders count, hidden ones do not.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);
bool has_images_inside(const std::filesystem::path& folder);

// The images in the folder and below, in natural order; adds the number of other files to `ignored`.
std::vector<std::filesystem::path> images_in(const std::filesystem::path& folder, std::int64_t& ignored);

// The folder's class folders with all images in and below them. User errors: no class folders, images beside them, a
// class folder without images, one that cannot be read.
ImageList list_images(const std::filesystem::path& folder);

}  // namespace trireme::data
