#include "store/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace trireme::store {

FileWriter::FileWriter(const base::fs::path& target) : target_(target), partial_(target.string() + ".partial") {
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) base::run_error("cannot write {}: {}", target_.string(), std::strerror(errno));
}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!committed_) ::unlink(partial_.c_str());
}

void FileWriter::give_up(int cause) { base::run_error("cannot write {}: {}", target_.string(), std::strerror(cause)); }

void FileWriter::write(std::span<const std::byte> bytes) {
  hash_.add(bytes);
  while (!bytes.empty()) {
    // Linux writes at most 2 GiB per call; smaller pieces are as fast.
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1u << 26));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::string FileWriter::commit() {
  if (::fsync(descriptor_) != 0) give_up(errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) give_up(errno);
  if (::rename(partial_.c_str(), target_.c_str()) != 0) give_up(errno);
  committed_ = true;
  base::sync_folder(target_.parent_path());
  return hash_.finish();
}

}  // namespace trireme::store
