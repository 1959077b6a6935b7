// UnpackedReader: the content of a file that is plain, gzip (.gz) or xz (.xz), as a stream. The caller asks for as many
// bytes as its format promises and no more is ever unpacked, so a small archive cannot fill the memory. A damaged or
// cut-off archive is a user error that names the file. One thread per reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace trireme::data {

class UnpackedReader {
 public:
  // How the file is packed is seen from its first bytes; an ending (.gz, .xz) that contradicts them is a user error.
  explicit UnpackedReader(std::filesystem::path path);
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
  class Codec;
  class PlainCodec;
  class GzCodec;
  class XzCodec;

  std::filesystem::path path_;
  std::unique_ptr<Codec> codec_;
};

// folder/stem, folder/stem.gz or folder/stem.xz, the first that exists; empty when none does.
std::filesystem::path find_packed(const std::filesystem::path& folder, std::string_view stem);

}  // namespace trireme::data
