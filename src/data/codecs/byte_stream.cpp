#include "data/codecs/byte_stream.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <streambuf>

#include "base/error.h"

namespace trireme::data {
namespace {

class MemoryBuffer : public std::streambuf {
 public:
  explicit MemoryBuffer(std::span<const std::uint8_t> bytes) {
    char* begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));  // only read from
    setg(begin, begin, begin + bytes.size());
  }

 protected:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override {
    const off_type size = egptr() - eback();
    const off_type start = from == std::ios_base::beg ? 0 : from == std::ios_base::end ? size : gptr() - eback();
    if (offset < -start || offset > size - start) return pos_type(off_type(-1));
    setg(eback(), eback() + start + offset, egptr());
    return pos_type(start + offset);
  }
  pos_type seekpos(pos_type position, std::ios_base::openmode which) override {
    return seekoff(off_type(position), std::ios_base::beg, which);
  }
};

class MemoryStream : public std::istream {
 public:
  explicit MemoryStream(std::span<const std::uint8_t> bytes) : std::istream(nullptr), buffer_(bytes) {
    rdbuf(&buffer_);
  }

 private:
  MemoryBuffer buffer_;
};

}  // namespace

std::unique_ptr<std::istream> open_bytes(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    base::user_error("{} is a folder, a file was expected", path.string());
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) base::user_error("cannot read {}: {}", path.string(), std::strerror(errno));
  return file;
}

std::unique_ptr<std::istream> open_bytes(std::span<const std::uint8_t> bytes) {
  return std::make_unique<MemoryStream>(bytes);
}

}  // namespace trireme::data
