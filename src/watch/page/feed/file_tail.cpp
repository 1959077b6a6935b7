#include "watch/page/feed/file_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/index.h"

namespace trireme::watch {
namespace {

// Reads until the buffer is full or the file ends; the bytes read.
std::size_t read_at(int descriptor, std::int64_t offset, char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor, to + done, size - done, offset + static_cast<std::int64_t>(done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace

bool FileTail::is_still_the_same(int descriptor, std::int64_t size) const {
  if (size < offset_) return false;
  std::string now(anchor_.size(), '\0');
  const std::size_t got = read_at(descriptor, offset_ - static_cast<std::int64_t>(now.size()), now.data(), now.size());
  return got == now.size() && now == anchor_;
}

bool FileTail::read(const Reader& reader, std::size_t most_bytes) {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const bool is_same_file = status.st_dev == device_ && status.st_ino == inode_;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (is_same_file && status.st_size == offset_) return false;
  if (offset_ > 0 && !is_still_the_same(descriptor, status.st_size)) {
    offset_ = 0;
    anchor_.clear();
    skips_line_ = false;
    reader.start_again();
  }
  std::string buffer;
  for (std::size_t taken = 0; taken < most_bytes;) {
    buffer.resize(std::min<std::size_t>(std::max<std::size_t>(buffer.size(), 1 << 18), kLongestLine));
    const std::size_t got = read_at(descriptor, offset_, buffer.data(), buffer.size());
    const std::string_view text(buffer.data(), got);
    const std::size_t last = text.rfind('\n');
    if (last == std::string_view::npos) {
      if (got < buffer.size()) return false;  // the rest of the line is not written yet
      if (buffer.size() < kLongestLine) {
        buffer.resize(2 * buffer.size());
        continue;
      }
      skips_line_ = true;
      offset_ += static_cast<std::int64_t>(got);
      taken += got;
      anchor_.assign(text.substr(got - kAnchor));
      continue;
    }
    for (std::size_t begin = 0; begin <= last;) {
      const std::size_t end = text.find('\n', begin);
      if (!std::exchange(skips_line_, false)) reader.line(text.substr(begin, end - begin));
      begin = end + 1;
    }
    const std::size_t before = std::min(last + 1, kAnchor);
    anchor_.assign(text.substr(last + 1 - before, before));
    offset_ += static_cast<std::int64_t>(last + 1);
    taken += last + 1;
    if (offset_ >= status.st_size) return false;
  }
  return true;
}

}  // namespace trireme::watch
