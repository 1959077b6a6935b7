// Files: reading whole files, and writing so that a reader sees the old content or the new, never a part of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::base {

namespace fs = std::filesystem;

// The whole file; a user error that names the path when it cannot be read.
std::vector<std::byte> read_file(const fs::path& path);
std::string read_text(const fs::path& path);

// Writes beside the target, syncs, renames; on failure removes what it wrote and throws a run error naming path and
// cause (a full disk, no permission).
void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes);
void write_text_atomically(const fs::path& path, std::string_view text);

// Syncs a folder so that a rename in it survives a power cut.
void sync_folder(const fs::path& folder);

// Appends lines to a file, flushed after each; a failed write throws a run error naming path and cause.
class LineWriter {
 public:
  explicit LineWriter(const fs::path& path);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  void write(std::string_view line);

 private:
  fs::path path_;
  int descriptor_;
};

}  // namespace trireme::base
