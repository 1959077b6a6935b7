// Packed files: a dataset decoded once into one file, which all processes of a host map and share (format:
// docs/data.md). Opening reads only the header; verify_packed() checks the checksums. Thread-safe.
#pragma once

#include <filesystem>
#include <functional>

#include "data/dataset/dataset.h"

namespace trireme::data {

inline constexpr const char* kPackedEnding = ".trireme";

// Writes both sets, in their stored type where they lie in memory, else as floats, with the training set's
// normalizations, so that no run needs a pass over the data for them. An existing file is an error. The file appears
// only when it is complete.
void write_packed(const std::filesystem::path& path, const DataPair& pair);

// A file that is not a packed file, is damaged or is cut short is a user error.
DataPair open_packed(const std::filesystem::path& path);

// Reads everything and compares the checksums. A mismatch is a user error that names the part. Asks `stop` now and
// then, and returns early where it says so.
void verify_packed(const std::filesystem::path& path, const std::function<bool()>& stop = {});

}  // namespace trireme::data
