#include "observe/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

namespace trireme::observe {

KernelFile::KernelFile(const base::fs::path& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

KernelFile::~KernelFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

KernelFile::KernelFile(KernelFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), buffer_(std::move(other.buffer_)) {}

// The kernel makes the text anew for every read from its beginning, so a text that is longer than the buffer is read
// on, and the buffer keeps its size for the next time.
std::string_view KernelFile::read() {
  if (descriptor_ < 0) return {};
  std::size_t size = 0;
  for (;;) {
    if (buffer_.size() - size < 1024) buffer_.resize(2 * buffer_.size() + 4096);
    const ssize_t got = ::pread(descriptor_, buffer_.data() + size, buffer_.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return std::string_view(buffer_).substr(0, size);
    size += static_cast<std::size_t>(got);
  }
}

double KernelFile::read_number() { return FieldScanner(read()).number(); }

std::string_view FieldScanner::word() {
  const std::size_t begin = rest_.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) {
    rest_ = {};
    return {};
  }
  const std::size_t end = std::min(rest_.find_first_of(" \t\n", begin), rest_.size());
  const std::string_view found = rest_.substr(begin, end - begin);
  rest_.remove_prefix(end);
  return found;
}

double FieldScanner::number() {
  const std::string_view text = word();
  double value = kNotTold;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? value : kNotTold;
}

void FieldScanner::skip(int words) {
  for (; words > 0; --words) word();
}

std::string_view FieldScanner::line() {
  const std::size_t end = rest_.find('\n');
  const std::string_view found = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  return found;
}

}  // namespace trireme::observe
