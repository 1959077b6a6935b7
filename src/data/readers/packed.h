// Packed files: a dataset decoded once, in one file that is mapped into memory and shared by all processes of a host
// (docs/data.md has the format). Opening reads the header alone; checksums are verified on demand.
#pragma once

#include <filesystem>

#include "data/dataset/dataset.h"

namespace trireme::data {

inline constexpr const char* kPackedEnding = ".trireme";

// Writes both sets, as they are stored where they are, else as floats; with the training set's normalisations, so that
// nobody needs a pass over the data. An existing file is a user error; the file appears when it is whole.
void write_packed(const std::filesystem::path& path, const DataPair& pair);

// A file that is no packed one, damaged or cut short is a user error.
DataPair open_packed(const std::filesystem::path& path);

// Reads everything and compares the checksums; a difference is a user error that names the part.
void verify_packed(const std::filesystem::path& path);

}  // namespace trireme::data
