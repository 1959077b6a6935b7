// A file, or bytes in memory, as a stream that can seek: where readers of files begin.
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
