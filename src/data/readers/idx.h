// IDX files: MNIST and Fashion-MNIST. An images file is the bytes 00 00 08 03, then count, rows and columns (32 bit,
// most significant byte first), then the pixels; a labels file is 00 00 08 01, count, then one byte per label.
// Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/readers/data_request.h"

namespace trireme::data {

// Reads images and labels of one set; every label must be below `classes`.
DatasetPtr read_idx(const CodecRegistry& codecs, const std::filesystem::path& images,
                    const std::filesystem::path& labels, std::int64_t classes, std::vector<std::string> class_names);

// Opens the train and test (t10k) sets of the folder that request.data_dir leads to.
DataPair open_mnist(const DataRequest& request);
DataPair open_fashion_mnist(const DataRequest& request);

}  // namespace trireme::data
