// UnpackedReader: the content of a file, plain or packed in a way that the registry of codecs knows, as a stream. The
// caller asks for as many bytes as its format promises and no more is ever unpacked, so a small archive cannot fill the
// memory. A damaged or cut-off archive is a user error that names the file. One thread per reader.
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
  // How the file is packed is seen from its first bytes; an ending (.gz, ...) that contradicts them is a user error.
  // The registry is used here only.
  UnpackedReader(const CodecRegistry& codecs, std::filesystem::path path);
  // The same over a file's bytes in memory, which must outlive the reader; errors name `path`.
  UnpackedReader(const CodecRegistry& codecs, std::span<const std::uint8_t> bytes, std::filesystem::path path);
  ~UnpackedReader();
  UnpackedReader(const UnpackedReader&) = delete;
  UnpackedReader& operator=(const UnpackedReader&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Fills dst with up to `bytes` bytes; fewer only where the content ends.
  std::size_t read(std::uint8_t* dst, std::size_t bytes);
  // Exactly that many bytes, or a user error saying that `what` is cut short. Memory grows with what really arrives, so
  // a false promise in a header costs nothing.
  std::vector<std::uint8_t> read_exactly(std::size_t bytes, std::string_view what);
  // A user error if content follows.
  void expect_end();

 private:
  void choose_codec(const CodecRegistry& codecs, std::unique_ptr<std::istream> packed);

  std::filesystem::path path_;
  std::unique_ptr<Codec> codec_;
};

// folder/stem, or with a codec's ending behind it, the first that exists; empty when none does.
std::filesystem::path find_packed(const CodecRegistry& codecs, const std::filesystem::path& folder,
                                  std::string_view stem);

// The path without a codec's ending.
std::filesystem::path without_packing(const CodecRegistry& codecs, const std::filesystem::path& path);

}  // namespace trireme::data
