// Reads the zip archives that NumPy writes: stored or deflated entries, with or without ZIP64 sizes. Checks every
// offset and size against the archive before use, and never returns more bytes than the directory promises. Errors are
// user errors that name archive and entry.
// One thread at a time per archive and its readers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trireme::data {

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed_bytes = 0, bytes = 0;
  std::uint64_t header_at = 0;  // offset of its local header
};

class ZipArchive {
 public:
  explicit ZipArchive(const std::filesystem::path& path);
  // An archive in memory, which must outlive this object.
  ZipArchive(std::span<const std::uint8_t> bytes, std::string name);

  const std::string& name() const { return name_; }
  const std::vector<ZipEntry>& entries() const { return entries_; }

 private:
  friend class ZipEntryReader;
  struct Directory {
    std::uint64_t at = 0, bytes = 0, entries = 0;
  };

  void read_directory();
  Directory find_directory();
  Directory find_directory64(std::uint64_t end_at);
  void add_entry(std::span<const std::uint8_t> record, std::span<const std::uint8_t> extra, std::string name);
  std::vector<std::uint8_t> read_at(std::uint64_t at, std::uint64_t bytes, const char* what);
  [[noreturn]] void damaged(const std::string& why) const;

  std::string name_;
  std::unique_ptr<std::istream> stream_;
  std::uint64_t size_ = 0;
  std::uint64_t entries_end_ = 0;  // entries must end here, where the directory begins
  std::vector<ZipEntry> entries_;
};

// The content of one entry as a stream. Readers of one archive may alternate, on one thread. The archive must outlive
// them.
class ZipEntryReader {
 public:
  ZipEntryReader(ZipArchive& archive, const ZipEntry& entry);
  ~ZipEntryReader();
  ZipEntryReader(const ZipEntryReader&) = delete;
  ZipEntryReader& operator=(const ZipEntryReader&) = delete;

  // Up to `bytes` bytes, fewer only at the end of the entry. Verifies the checksum when it returns the last byte.
  std::size_t read(std::uint8_t* dst, std::size_t bytes);

 private:
  class Inflater;
  void read_packed(std::uint8_t* dst, std::size_t bytes);
  std::size_t inflate_some(std::uint8_t* dst, std::size_t bytes);
  void check_end();
  [[noreturn]] void damaged(const std::string& why) const;

  ZipArchive& archive_;
  ZipEntry entry_;
  std::uint64_t packed_at_ = 0, packed_left_ = 0, left_ = 0;
  std::uint32_t crc_ = 0;
  std::unique_ptr<Inflater> inflater_;
};

}  // namespace trireme::data
