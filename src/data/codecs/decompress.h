// UnpackedReader: the content of a plain or compressed file as a stream; the codec registry knows the compressions. The
// caller asks for as many bytes as its format promises, and no more is ever decompressed, so a small archive cannot
// fill the memory. A damaged or truncated archive is a user error that names the file. One thread per reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/codecs/codec.h"

namespace trireme::data {

class UnpackedReader {
 public:
  // Detects the compression from the first bytes; a file ending (.gz, ...) that contradicts them is a user error. Uses
  // the registry only during construction.
  UnpackedReader(const CodecRegistry& codecs, std::filesystem::path path);
  // The same for a file in memory, which must outlive the reader; errors name `path`.
  UnpackedReader(const CodecRegistry& codecs, std::span<const std::uint8_t> bytes, std::filesystem::path path);
  ~UnpackedReader();
  UnpackedReader(const UnpackedReader&) = delete;
  UnpackedReader& operator=(const UnpackedReader&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Fills dst with up to `bytes` bytes; fewer only at the end of the content.
  std::size_t read(std::uint8_t* dst, std::size_t bytes);
  // Exactly that many bytes, or a user error that `what` is truncated. Memory grows with the data that arrives, so a
  // false size in a header costs nothing.
  std::vector<std::uint8_t> read_exactly(std::size_t bytes, std::string_view what);
  // A user error if content follows.
  void expect_end();

 private:
  void choose_codec(const CodecRegistry& codecs, std::unique_ptr<std::istream> packed);

  std::filesystem::path path_;
  std::unique_ptr<Codec> codec_;
};

// The first that exists of folder/stem and folder/stem with a codec's ending; empty if none exists.
std::filesystem::path find_packed(const CodecRegistry& codecs, const std::filesystem::path& folder,
                                  std::string_view stem);

// The path without a codec's ending (.gz, ...).
std::filesystem::path without_packing(const CodecRegistry& codecs, const std::filesystem::path& path);

}  // namespace trireme::data
