// A folder of its own, which goes with all that is in it.
#pragma once

#include <optional>
#include <string>

#include "base/system/files.h"

namespace trireme::base {

class TemporaryFolder {
 public:
  // Called "trireme-<purpose>-..." in memory, where there is plenty of it, else where temporary files belong. Those of
  // the same purpose whose process was killed are removed first.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::optional<int> lock_;  // on the folder, for as long as this process lives
};

}  // namespace trireme::base
