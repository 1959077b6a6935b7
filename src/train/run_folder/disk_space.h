// The space that a run needs on its disk. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/files.h"
#include "tensor/parameter_space.h"

namespace trireme::train {

// For one more checkpoint with `slots` values of optimizer state per trained weight, and the records until then.
std::uint64_t bytes_of_checkpoint(const tensor::ParameterSpace& space, int slots);

// Free bytes on the disk of a folder that need not exist yet; the largest number where that is unknown.
std::uint64_t free_bytes(const base::fs::path& folder);

// If `sentence` says that a disk is full: "; free at least 1.2 MB in FOLDER, ...". Otherwise empty.
std::string what_to_free(const std::string& sentence, const base::fs::path& folder, std::uint64_t needed);

}  // namespace trireme::train
