// FileWriter: writes a file in pieces under a temporary name beside its target, then syncs and renames it.
// One caller at a time.
// It hashes what it writes. Until commit() the target is untouched; without commit() the destructor removes what was
// written. Failures are run errors that name path and cause.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/hash.h"
#include "base/system/files.h"

namespace trireme::store {

class FileWriter {
 public:
  explicit FileWriter(const base::fs::path& target);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::span<const std::byte> bytes);
  // Moves the file to its target; returns the SHA-256 of its content.
  std::string commit();

 private:
  [[noreturn]] void give_up(int cause);

  base::fs::path target_;
  base::fs::path partial_;
  int descriptor_ = -1;
  bool committed_ = false;
  base::Sha256 hash_;
};

}  // namespace trireme::store
