// TemporaryFolder: a new folder that is removed, with its content, by the destructor. One thread at a time.
#pragma once

#include <optional>
#include <string>

#include "base/system/files.h"

namespace trireme::base {

class TemporaryFolder {
 public:
  // Creates "trireme-<purpose>-...": in memory if enough is free, else in the folder for temporary files. First removes
  // folders of the same purpose whose process was killed.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::optional<int> lock_;  // on the folder; held while this process lives
};

}  // namespace trireme::base
