// IDX files: MNIST and Fashion-MNIST. An images file is the bytes 00 00 08 03, then count, rows and columns (32 bit,
// most significant byte first), then the pixels; a labels file is 00 00 08 01, count, then one byte per label.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace trireme::data {

// Reads images and labels of one set; every label must be below `classes`.
DatasetPtr read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, std::int64_t classes,
                    std::vector<std::string> class_names);

// Opens the folder's train and test (t10k) sets.
DataPair open_mnist(const std::string& data_dir);
DataPair open_fashion_mnist(const std::string& data_dir);

}  // namespace trireme::data
