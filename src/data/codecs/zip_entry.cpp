#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/codecs/zip.h"

namespace trireme::data {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint64_t kLocalHeaderBytes = 30;
constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

}  // namespace

class ZipEntryReader::Inflater {
 public:
  Inflater() : input_(kPieceBytes) {
    base::check(inflateInit2(&stream_, -15) == Z_OK, "zlib does not start");  // -15: raw deflate, any window
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream_{};
  std::vector<std::uint8_t> input_;
  bool ended_ = false;
};

ZipEntryReader::ZipEntryReader(ZipArchive& archive, const ZipEntry& entry)
    : archive_(archive), entry_(entry), packed_left_(entry.packed_bytes), left_(entry.bytes) {
  const auto header = archive_.read_at(entry_.header_at, kLocalHeaderBytes, "a file's header");
  const auto number = [&](std::size_t at) { return header[at] | header[at + 1] << 8; };
  if (number(0) != (kLocalHeader & 0xffff) || number(2) != kLocalHeader >> 16 || number(8) != entry_.method)
    damaged("its header and the directory contradict each other");
  const auto name_bytes = static_cast<std::uint64_t>(number(26)), extra_bytes = static_cast<std::uint64_t>(number(28));
  const auto name = archive_.read_at(entry_.header_at + kLocalHeaderBytes, name_bytes, "a file's name");
  if (!std::ranges::equal(name, entry_.name, {}, {}, [](char c) { return static_cast<std::uint8_t>(c); }))
    damaged("its header and the directory give it different names");
  packed_at_ = entry_.header_at + kLocalHeaderBytes + name_bytes + extra_bytes;
  if (packed_at_ > archive_.entries_end_ || packed_left_ > archive_.entries_end_ - packed_at_)
    damaged("it reaches beyond the archive's end");
  if (entry_.method != 0) inflater_ = std::make_unique<Inflater>();
  if (left_ == 0) check_end();
}

ZipEntryReader::~ZipEntryReader() = default;

void ZipEntryReader::damaged(const std::string& why) const {
  base::user_error("{}: its file '{}' is damaged: {}; fetch or copy the file again", archive_.name(), entry_.name, why);
}

std::size_t ZipEntryReader::read(std::uint8_t* dst, std::size_t bytes) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, left_));
  std::size_t done = 0;
  while (done < wanted) {
    const std::size_t piece = std::min(wanted - done, kMostAtOnce);
    std::size_t got = piece;
    if (inflater_)
      got = inflate_some(dst + done, piece);
    else
      read_packed(dst + done, piece);
    crc_ = static_cast<std::uint32_t>(crc32(crc_, dst + done, static_cast<uInt>(got)));
    done += got;
  }
  left_ -= wanted;
  if (wanted > 0 && left_ == 0) check_end();
  return wanted;
}

void ZipEntryReader::read_packed(std::uint8_t* dst, std::size_t bytes) {
  std::istream& stream = *archive_.stream_;
  stream.clear();
  stream.seekg(static_cast<std::streamoff>(packed_at_));
  stream.read(reinterpret_cast<char*>(dst), static_cast<std::streamsize>(bytes));
  if (static_cast<std::size_t>(stream.gcount()) != bytes) damaged("it cannot be read to its end");
  packed_at_ += bytes;
  packed_left_ -= bytes;
}

// Decompresses at least one byte; no output means damage.
std::size_t ZipEntryReader::inflate_some(std::uint8_t* dst, std::size_t bytes) {
  z_stream& stream = inflater_->stream_;
  for (;;) {
    if (stream.avail_in == 0 && packed_left_ > 0) {
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(packed_left_, kPieceBytes));
      read_packed(inflater_->input_.data(), piece);
      stream.next_in = inflater_->input_.data();
      stream.avail_in = static_cast<uInt>(piece);
    }
    stream.next_out = dst;
    stream.avail_out = static_cast<uInt>(bytes);
    const int status = inflater_->ended_ ? Z_STREAM_END : inflate(&stream, Z_NO_FLUSH);
    inflater_->ended_ = status == Z_STREAM_END;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      damaged(stream.msg ? stream.msg : "it cannot be unpacked");
    const std::size_t got = bytes - stream.avail_out;
    if (got > 0) return got;
    if (inflater_->ended_ || (stream.avail_in == 0 && packed_left_ == 0))
      damaged(fmt::format("it ends before the {} bytes the directory promises", entry_.bytes));
  }
}

void ZipEntryReader::check_end() {
  if (crc_ != entry_.crc) damaged(fmt::format("its checksum is {:08x}, the directory says {:08x}", crc_, entry_.crc));
}

}  // namespace trireme::data
