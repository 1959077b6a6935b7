#include "base/temporary_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace trireme::base {

namespace {

// What is written need not go to a disk, which would be busy with it long after.
fs::path place() {
  constexpr std::uintmax_t kPlenty = std::uintmax_t{6} << 30;
  const fs::path usual = fs::temp_directory_path(), memory = "/dev/shm";
  std::error_code unknown;
  const fs::space_info space = fs::space(memory, unknown);
  const bool is_named_by_user = usual != "/tmp";
  return !is_named_by_user && !unknown && space.available > kPlenty && access(memory.c_str(), W_OK) == 0 ? memory
                                                                                                         : usual;
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::string name = (place() / ("trireme-" + purpose + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) run_error("cannot make a folder {}: {}", name, std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace trireme::base
