// Datasets of NumPy arrays: a .npz file, or a folder of .npy files, with arrays named x_train, y_train, x_test, y_test
// and the like (numpy_names.h). Errors are user errors that name file and array. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "data/dataset/dataset.h"
#include "data/readers/data_request.h"

namespace trireme::data {

// True for a .npz or .npy file, and for a folder with .npy files.
bool is_numpy(const DataRequest& request);

DataPair open_numpy(const DataRequest& request);

// Arrays without targets: a single .npy file, or inputs alone. No value if the arrays have targets.
std::optional<DataPair> open_unlabelled_numpy(const DataRequest& request);

// The same for a .npz file in memory; `name` is used in messages.
DataPair read_npz(std::span<const std::uint8_t> bytes, const std::string& name, const DataRequest& request);

}  // namespace trireme::data
