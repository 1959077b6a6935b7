#include "data/decompress.h"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "base/error.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kInputBytes = std::size_t{1} << 16;
constexpr std::size_t kGrowBytes = std::size_t{64} << 20;
constexpr std::uint64_t kXzMemoryLimit = std::uint64_t{512} << 20;  // more than any xz preset needs to unpack
constexpr std::array<std::uint8_t, 2> kGzMagic = {0x1f, 0x8b};
constexpr std::array<std::uint8_t, 6> kXzMagic = {0xfd, '7', 'z', 'X', 'Z', 0x00};

[[noreturn]] void corrupt(const fs::path& path, std::string_view why) {
  base::user_error("{} is damaged: {}; fetch or copy the file again", path.string(), why);
}

}  // namespace

// Packed bytes come in pieces through refill(); decode() makes content of them.
class UnpackedReader::Codec {
 public:
  Codec(const fs::path& path, std::ifstream file) : path_(path), file_(std::move(file)), input_(kInputBytes) {}
  virtual ~Codec() = default;
  // Up to `bytes` bytes of content, fewer only at the end.
  virtual std::size_t decode(std::uint8_t* dst, std::size_t bytes) = 0;

 protected:
  // The next piece of the file; 0 at its end.
  std::size_t refill() {
    file_.read(reinterpret_cast<char*>(input_.data()), static_cast<std::streamsize>(input_.size()));
    if (file_.bad()) base::user_error("cannot read {}: {}", path_.string(), std::strerror(errno));
    return static_cast<std::size_t>(file_.gcount());
  }

  fs::path path_;
  std::ifstream file_;
  std::vector<std::uint8_t> input_;
};

class UnpackedReader::PlainCodec : public Codec {
 public:
  using Codec::Codec;
  std::size_t decode(std::uint8_t* dst, std::size_t bytes) override {
    file_.read(reinterpret_cast<char*>(dst), static_cast<std::streamsize>(bytes));
    if (file_.bad()) base::user_error("cannot read {}: {}", path_.string(), std::strerror(errno));
    return static_cast<std::size_t>(file_.gcount());
  }
};

class UnpackedReader::GzCodec : public Codec {
 public:
  GzCodec(const fs::path& path, std::ifstream file) : Codec(path, std::move(file)) {
    base::check(inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib does not start");  // 15 + 16: gzip only, any window
  }
  ~GzCodec() override { inflateEnd(&stream_); }

  std::size_t decode(std::uint8_t* dst, std::size_t bytes) override {
    std::size_t done = 0;
    while (done < bytes && !ended_) {
      if (stream_.avail_in == 0) {
        stream_.next_in = input_.data();
        stream_.avail_in = static_cast<uInt>(refill());
        if (stream_.avail_in == 0) {
          if (!between_members_) corrupt(path_, "the gzip archive is cut off");
          ended_ = true;
          break;
        }
      }
      if (between_members_) inflateReset(&stream_);
      between_members_ = false;
      const std::size_t piece = std::min<std::size_t>(bytes - done, std::size_t{1} << 30);
      stream_.next_out = dst + done;
      stream_.avail_out = static_cast<uInt>(piece);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += piece - stream_.avail_out;
      if (status == Z_STREAM_END)
        between_members_ = true;  // a gzip file may be several archives in a row
      else if (status != Z_OK && status != Z_BUF_ERROR)
        corrupt(path_, stream_.msg ? stream_.msg : "the gzip archive cannot be unpacked");
    }
    return done;
  }

 private:
  z_stream stream_{};
  bool between_members_ = false;
  bool ended_ = false;
};

class UnpackedReader::XzCodec : public Codec {
 public:
  XzCodec(const fs::path& path, std::ifstream file) : Codec(path, std::move(file)) {
    base::check(lzma_stream_decoder(&stream_, kXzMemoryLimit, LZMA_CONCATENATED) == LZMA_OK, "liblzma does not start");
  }
  ~XzCodec() override { lzma_end(&stream_); }

  std::size_t decode(std::uint8_t* dst, std::size_t bytes) override {
    stream_.next_out = dst;
    stream_.avail_out = bytes;
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0 && !file_ended_) {
        stream_.next_in = input_.data();
        stream_.avail_in = refill();
        file_ended_ = stream_.avail_in == 0;
      }
      const lzma_ret status = lzma_code(&stream_, file_ended_ ? LZMA_FINISH : LZMA_RUN);
      switch (status) {
        case LZMA_OK: break;
        case LZMA_STREAM_END: ended_ = true; break;
        case LZMA_BUF_ERROR: corrupt(path_, "the xz archive is cut off");
        case LZMA_MEMLIMIT_ERROR: corrupt(path_, "the xz archive asks for too much memory");
        default: corrupt(path_, "the xz archive cannot be unpacked");
      }
    }
    return bytes - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool file_ended_ = false;
  bool ended_ = false;
};

UnpackedReader::UnpackedReader(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) base::user_error("{} is a folder, a file was expected", path_.string());
  std::ifstream file(path_, std::ios::binary);
  if (!file) base::user_error("cannot read {}: {}", path_.string(), std::strerror(errno));
  std::array<std::uint8_t, 6> head{};
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  const bool gz = file.gcount() >= 2 && std::equal(kGzMagic.begin(), kGzMagic.end(), head.begin());
  const bool xz = file.gcount() >= 6 && std::equal(kXzMagic.begin(), kXzMagic.end(), head.begin());
  file.clear();
  file.seekg(0);
  const std::string ending = path_.extension().string();
  if (ending == ".gz" && !gz) corrupt(path_, "its name ends in .gz but it does not begin like a gzip archive");
  if (ending == ".xz" && !xz) corrupt(path_, "its name ends in .xz but it does not begin like an xz archive");
  if (gz)
    codec_ = std::make_unique<GzCodec>(path_, std::move(file));
  else if (xz)
    codec_ = std::make_unique<XzCodec>(path_, std::move(file));
  else
    codec_ = std::make_unique<PlainCodec>(path_, std::move(file));
}

UnpackedReader::~UnpackedReader() = default;

std::size_t UnpackedReader::read(std::uint8_t* dst, std::size_t bytes) { return codec_->decode(dst, bytes); }

std::vector<std::uint8_t> UnpackedReader::read_exactly(std::size_t bytes, std::string_view what) {
  std::vector<std::uint8_t> content;
  while (content.size() < bytes) {
    const std::size_t had = content.size();
    content.resize(std::min(bytes, had + kGrowBytes));
    const std::size_t got = read(content.data() + had, content.size() - had);
    if (had + got < content.size())
      base::user_error(
          "{} is cut short: {} takes {} bytes, but the content ends after {}; fetch or copy the file again",
          path_.string(), what, bytes, had + got);
  }
  return content;
}

void UnpackedReader::expect_end() {
  std::uint8_t extra;
  if (read(&extra, 1) != 0)
    base::user_error("{} is longer than its format allows; fetch or copy the file again", path_.string());
}

fs::path find_packed(const fs::path& folder, std::string_view stem) {
  for (const char* ending : {"", ".gz", ".xz"}) {
    fs::path path = folder / (std::string(stem) + ending);
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return {};
}

}  // namespace trireme::data
