#include "watch/formats/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "watch/formats/little_endian.h"

namespace trireme::watch {
namespace {

constexpr std::array<std::uint32_t, 256> kCrcOfByte = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
    table[byte] = crc;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = crc >> 8 ^ kCrcOfByte[(crc ^ static_cast<std::uint8_t>(byte)) & 0xff];
  return ~crc;
}

std::uint32_t masked_crc(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8U; }

RecordFile::RecordFile(base::fs::path path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) base::run_error("cannot write {}: {}", path_.string(), std::strerror(errno));
}

RecordFile::~RecordFile() { ::close(descriptor_); }

void RecordFile::add(std::string_view content) {
  const std::size_t start = waiting_.size();
  append_little_endian(waiting_, static_cast<std::uint64_t>(content.size()));
  append_little_endian(waiting_, masked_crc(crc32c(std::string_view(waiting_).substr(start))));
  waiting_ += content;
  append_little_endian(waiting_, masked_crc(crc32c(content)));
}

void RecordFile::flush() {
  while (!waiting_.empty()) {
    const ssize_t written = ::write(descriptor_, waiting_.data(), waiting_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) base::run_error("cannot write {}: {}", path_.string(), std::strerror(errno));
    waiting_.erase(0, static_cast<std::size_t>(written));
  }
}

}  // namespace trireme::watch
