// RecordFile: a file of records with lengths and checksums, as TensorFlow's TFRecord. One thread at a time.
//
// record = length (8 bytes) | masked CRC-32C of the length | content | masked CRC-32C of the content
// A reader stops before a record that is cut off, and goes on when the rest has come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/system/files.h"

namespace trireme::watch {

// CRC-32C (Castagnoli) of bytes.
std::uint32_t crc32c(std::string_view bytes);
// A checksum over bytes that contain checksums would be weak; TFRecord stores this function of it.
std::uint32_t masked_crc(std::uint32_t crc);

class RecordFile {
 public:
  // The file must be new. A failure here, or in flush(), is a run error.
  explicit RecordFile(base::fs::path path);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  void add(std::string_view content);  // written by the next flush()
  void flush();
  std::size_t waiting_bytes() const { return waiting_.size(); }

 private:
  base::fs::path path_;
  int descriptor_;
  std::string waiting_;
};

}  // namespace trireme::watch
