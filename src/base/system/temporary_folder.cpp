#include "base/system/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace trireme::base {

namespace {

constexpr std::string_view kUnique = "XXXXXX";

// Prefers memory: writing to a disk would keep it busy long afterwards.
fs::path parent_folder() {
  constexpr std::uintmax_t kPlenty = std::uintmax_t{6} << 30;
  const fs::path usual = fs::temp_directory_path(), memory = "/dev/shm";
  std::error_code unknown;
  const fs::space_info space = fs::space(memory, unknown);
  const bool is_named_by_user = usual != "/tmp";
  return !is_named_by_user && !unknown && space.available > kPlenty && access(memory.c_str(), W_OK) == 0 ? memory
                                                                                                         : usual;
}

// A descriptor that holds the folder's lock; or no value, with the reason in errno: EWOULDBLOCK if another process
// holds the lock, ENOENT if the folder is gone, EPERM if it belongs to another user. Some file systems do not support
// locks.
std::optional<int> lock(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct stat status {};
  int reason = 0;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 || ::fstat(descriptor, &status) != 0)
    reason = errno;
  else if (status.st_nlink == 0)
    reason = ENOENT;
  else if (status.st_uid != ::geteuid())
    reason = EPERM;
  if (reason == 0) return descriptor;
  ::close(descriptor);
  errno = reason;
  return std::nullopt;
}

void remove_abandoned(const fs::path& place, const std::string& prefix) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || name.size() != prefix.size() + kUnique.size()) continue;
    const std::optional<int> descriptor = lock(entry.path());
    if (!descriptor) continue;
    fs::remove_all(entry.path(), ignored);
    ::close(*descriptor);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  const fs::path folder = parent_folder();
  const std::string prefix = "trireme-" + purpose + "-";
  remove_abandoned(folder, prefix);
  do {
    std::string name = (folder / (prefix + std::string(kUnique))).string();
    if (mkdtemp(name.data()) == nullptr) run_error("cannot make a folder {}: {}", name, std::strerror(errno));
    path_ = name;
    lock_ = lock(path_);
  } while (!lock_ && (errno == EWOULDBLOCK || errno == ENOENT));  // another process took it for an abandoned folder
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_) ::close(*lock_);
}

}  // namespace trireme::base
