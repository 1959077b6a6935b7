#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace trireme::base {

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::string name = (fs::temp_directory_path() / ("trireme-" + purpose + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) run_error("cannot make a folder {}: {}", name, std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace trireme::base
