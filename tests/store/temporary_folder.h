// A folder for one test, removed with everything in it at the end.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/files.h"

namespace trireme::store {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (base::fs::temp_directory_path() / "trireme-store-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    base::fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const base::fs::path& path() const { return path_; }

 private:
  base::fs::path path_;
};

}  // namespace trireme::store
