// Codec: decodes the compressed bytes of one file, only as far as the caller asks. One thread per codec.
// CodecRow: a compression in the registry.
//
// Adding a compression: its own file with a row, and one line in builtin_codecs().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/registry.h"

namespace trireme::data {

class Codec {
 public:
  Codec(std::string name, std::unique_ptr<std::istream> packed);
  virtual ~Codec() = default;
  // Up to `bytes` bytes of content, fewer only at the end. A damaged archive is a user error that names the file.
  virtual std::size_t decode(std::uint8_t* dst, std::size_t bytes) = 0;

 protected:
  std::size_t read_packed(std::uint8_t* dst, std::size_t bytes);
  // Reads the next compressed bytes into input_; 0 at the end.
  std::size_t refill() { return read_packed(input_.data(), input_.size()); }
  [[noreturn]] void damaged(std::string_view why) const;

  std::string name_;
  std::unique_ptr<std::istream> packed_;
  std::vector<std::uint8_t> input_;
};

using CodecPtr = std::unique_ptr<Codec>;

// The first bytes of a file, which identify the compression: kHeadBytes, or fewer if the file is shorter.
using FileHead = std::span<const std::uint8_t>;
constexpr std::size_t kHeadBytes = 16;
bool begins_with(FileHead head, std::initializer_list<std::uint8_t> magic);

struct CodecRow {
  std::string name;
  std::string summary;
  std::string ending;  // of file names: ".gz"; not empty
  std::function<bool(FileHead head)> fits;
  // `name`: the file's name, for errors.
  std::function<CodecPtr(std::string name, std::unique_ptr<std::istream> packed)> make;
};
using CodecRegistry = base::RegistryOf<CodecRow>;

CodecRegistry builtin_codecs();
CodecRow gzip_row();
CodecRow xz_row();
CodecRow zstd_row();

// Passes the content through: for files that no row fits.
CodecPtr plain_codec(std::string name, std::unique_ptr<std::istream> packed);

[[noreturn]] void damaged_archive(std::string_view name, std::string_view why);

}  // namespace trireme::data
