// Files: reads whole files, and replaces files atomically: a reader sees either the old content or the new.
// Functions are thread-safe; a LineWriter: one thread at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::base {

namespace fs = std::filesystem;

// The path from the root, also where the file does not exist; "" stays.
std::string absolute_path(const std::string& path);

// Reads the whole file. Failure is a user error that names the path.
std::vector<std::byte> read_file(const fs::path& path);
std::string read_text(const fs::path& path);

// Refuses the name of a file to make, as `option` (--output) gives it: the file exists, or its folder does not. A user
// error.
void check_new_file(std::string_view option, const fs::path& path);

// Writes a file beside the target, syncs it and renames it. On failure removes what it wrote and throws a run error
// with path and cause (a full disk, no permission).
void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes);
void write_text_atomically(const fs::path& path, std::string_view text);

// Syncs a folder so that a rename in it survives a power cut.
void sync_folder(const fs::path& folder);

// LineWriter: appends lines to a file, each flushed. A failed write is a run error that names path and cause.
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
