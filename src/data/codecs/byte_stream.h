// Opens a file, or bytes in memory, as a seekable stream. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <span>

namespace trireme::data {

// A folder or a file that cannot be read is a user error.
std::unique_ptr<std::istream> open_bytes(const std::filesystem::path& path);

// The bytes must outlive the stream.
std::unique_ptr<std::istream> open_bytes(std::span<const std::uint8_t> bytes);

}  // namespace trireme::data
