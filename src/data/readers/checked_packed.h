// Opens packed files and compares their checksums, without reading large files twice before the first sample.
// Thread-safe.
#pragma once

#include <chrono>
#include <filesystem>

#include "data/dataset/dataset.h"

namespace trireme::data {

// Like open_packed(), but a thread compares the checksums meanwhile. What it finds within a second is a user error of
// this call; what it finds later is one of the next sample that is asked for.
DataPair open_checked_packed(const std::filesystem::path& path,
                             std::chrono::milliseconds patience = std::chrono::seconds(1));

}  // namespace trireme::data
