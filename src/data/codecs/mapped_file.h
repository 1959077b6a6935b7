// MappedFile: a file mapped read-only into memory, shared by all processes that map it. If the file shrinks while
// mapped, the process ends with a message that names it and exit code 1, instead of a bus error.
// Immutable; thread-safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace trireme::data {

class MappedFile {
 public:
  // A file that cannot be mapped is a user error that names it.
  explicit MappedFile(std::filesystem::path path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int watch_ = -1;
};

}  // namespace trireme::data
