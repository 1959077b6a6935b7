// FileWriter: writes a file in pieces beside its target, then syncs and renames, hashing on the way. Until commit() the
// target is untouched; without it the destructor removes what was written. Failures are run errors that name path and
// cause. One thread at a time.
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
  // Makes the file appear under its name; returns the SHA-256 of its content.
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
