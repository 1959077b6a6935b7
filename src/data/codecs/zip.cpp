#include "data/codecs/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/codecs/byte_stream.h"

namespace trireme::data {
namespace {

using Record = std::span<const std::uint8_t>;

constexpr std::uint32_t kDirectoryEntry = 0x02014b50, kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kDirectoryEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kDirectoryEntryBytes = 46, kDirectoryEndBytes = 22, kDirectoryEnd64Bytes = 56,
                      kLocator64Bytes = 20;
constexpr std::size_t kMaxComment = 65'535;
constexpr std::uint64_t kMaxEntries = 10'000, kMaxDirectoryBytes = 4 << 20;
constexpr std::uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1, kExtra64 = 1;
constexpr std::uint32_t kIn64 = 0xffffffff;   // the ZIP64 record has the number
constexpr std::uint64_t kMostPerByte = 1032;  // the highest compression ratio of deflate

// Reads a little-endian number of `bytes` bytes. REQUIRES: the record is long enough.
std::uint64_t number(Record record, std::size_t at, std::size_t bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < bytes; ++i) n |= std::uint64_t{record[at + i]} << (8 * i);
  return n;
}
std::uint16_t number16(Record record, std::size_t at) { return static_cast<std::uint16_t>(number(record, at, 2)); }
std::uint32_t number32(Record record, std::size_t at) { return static_cast<std::uint32_t>(number(record, at, 4)); }

// The ZIP64 part of the extra field (sizes beyond 32 bits); empty if there is none.
Record extra64(Record extra) {
  while (extra.size() >= 4) {
    const std::size_t length = number16(extra, 2);
    if (length > extra.size() - 4) return {};
    if (number16(extra, 0) == kExtra64) return extra.subspan(4, length);
    extra = extra.subspan(4 + length);
  }
  return {};
}

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& path) : name_(path.string()), stream_(open_bytes(path)) {
  read_directory();
}

ZipArchive::ZipArchive(std::span<const std::uint8_t> bytes, std::string name)
    : name_(std::move(name)), stream_(open_bytes(bytes)) {
  read_directory();
}

void ZipArchive::damaged(const std::string& why) const {
  base::user_error("{} is damaged: {}; fetch or copy the file again", name_, why);
}

std::vector<std::uint8_t> ZipArchive::read_at(std::uint64_t at, std::uint64_t bytes, const char* what) {
  if (at > size_ || bytes > size_ - at)
    damaged(fmt::format("{} should lie at byte {}, {} bytes long, but the file has {} bytes", what, at, bytes, size_));
  std::vector<std::uint8_t> content(bytes);
  stream_->clear();
  stream_->seekg(static_cast<std::streamoff>(at));
  stream_->read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(bytes));
  if (static_cast<std::uint64_t>(stream_->gcount()) != bytes) damaged(fmt::format("{} cannot be read", what));
  return content;
}

// Finds the end record, which locates the directory; only a comment may follow it.
ZipArchive::Directory ZipArchive::find_directory() {
  const std::uint64_t searched = std::min<std::uint64_t>(size_, kDirectoryEndBytes + kMaxComment);
  const auto tail = read_at(size_ - searched, searched, "its end");
  for (std::size_t back = kDirectoryEndBytes; back <= tail.size(); ++back) {
    const Record record = Record(tail).subspan(tail.size() - back);
    if (number32(record, 0) != kDirectoryEnd || number16(record, 20) != back - kDirectoryEndBytes) continue;
    const std::uint64_t end_at = size_ - back;
    Directory directory{number32(record, 16), number32(record, 12), number16(record, 10)};
    if (directory.at == kIn64 || directory.bytes == kIn64 || directory.entries == 0xffff)
      return find_directory64(end_at);
    entries_end_ = end_at;
    return directory;
  }
  damaged("it is no zip archive, or its end is missing");
}

ZipArchive::Directory ZipArchive::find_directory64(std::uint64_t end_at) {
  if (end_at < kLocator64Bytes) damaged("its ZIP64 record is missing");
  const auto locator = read_at(end_at - kLocator64Bytes, kLocator64Bytes, "its ZIP64 locator");
  if (number32(locator, 0) != kLocator64) damaged("its ZIP64 record is missing");
  entries_end_ = number(locator, 8, 8);
  const auto record = read_at(entries_end_, kDirectoryEnd64Bytes, "its ZIP64 record");
  if (number32(record, 0) != kDirectoryEnd64) damaged("its ZIP64 record is missing");
  return {number(record, 48, 8), number(record, 40, 8), number(record, 32, 8)};
}

void ZipArchive::read_directory() {
  stream_->seekg(0, std::ios::end);
  const std::streamoff end = stream_->tellg();
  if (end < 0) base::user_error("cannot read {}: it has no known size", name_);
  size_ = static_cast<std::uint64_t>(end);
  const Directory directory = find_directory();
  if (directory.at > entries_end_ || directory.bytes > entries_end_ - directory.at)
    damaged("its directory reaches beyond the end");
  if (directory.entries > kMaxEntries || directory.bytes > kMaxDirectoryBytes)
    base::user_error("{} holds {} files in a directory of {} bytes, at most {} files and {} bytes are read", name_,
                     directory.entries, directory.bytes, kMaxEntries, kMaxDirectoryBytes);
  entries_end_ = directory.at;
  const auto content = read_at(directory.at, directory.bytes, "its directory");
  Record rest = content;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (rest.size() < kDirectoryEntryBytes || number32(rest, 0) != kDirectoryEntry)
      damaged(fmt::format("entry {} of {} of its directory is missing", i + 1, directory.entries));
    const Record record = rest.first(kDirectoryEntryBytes);
    const std::size_t name = number16(record, 28), extra = number16(record, 30), comment = number16(record, 32);
    rest = rest.subspan(kDirectoryEntryBytes);
    if (name + extra + comment > rest.size())
      damaged(fmt::format("entry {} of {} of its directory is cut off", i + 1, directory.entries));
    add_entry(record, rest.subspan(name, extra),
              std::string(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(name)));
    rest = rest.subspan(name + extra + comment);
  }
}

void ZipArchive::add_entry(Record record, Record extra, std::string name) {
  ZipEntry entry{std::move(name),      number16(record, 10), number32(record, 16),
                 number32(record, 20), number32(record, 24), number32(record, 42)};
  Record large = extra64(extra);
  for (std::uint64_t* size : {&entry.bytes, &entry.packed_bytes, &entry.header_at}) {
    if (*size != kIn64 || large.size() < 8) continue;
    *size = number(large, 0, 8);
    large = large.subspan(8);
  }
  const auto complain = [&](const char* why) { base::user_error("{}: its file '{}' {}", name_, entry.name, why); };
  if (number16(record, 8) & kEncrypted) complain("is encrypted; save the arrays without a password");
  if (entry.method != kStored && entry.method != kDeflated)
    complain("is packed in a way NumPy does not use; save it with np.savez or np.savez_compressed");
  if (entry.method == kStored && entry.bytes != entry.packed_bytes) complain("is stored in another size than its own");
  if (entry.packed_bytes > entries_end_ || entry.header_at > entries_end_ - entry.packed_bytes)
    complain("reaches beyond the archive's end; fetch or copy the file again");
  if (entry.bytes / kMostPerByte > entry.packed_bytes) complain("promises more bytes than its packed ones can hold");
  for (const ZipEntry& other : entries_)
    if (other.name == entry.name) complain("is there twice");
  entries_.push_back(std::move(entry));
}

}  // namespace trireme::data
