// Codec: decodes the packed bytes of one file, as much of the content as it is asked for. One thread per codec.
// CodecRow: how the registry knows a packing of files.
//
// Adding a packing: its file with a row, and one line in builtin_codecs().
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
  // The next piece of the packed bytes into input_; 0 at their end.
  std::size_t refill() { return read_packed(input_.data(), input_.size()); }
  [[noreturn]] void damaged(std::string_view why) const;

  std::string name_;
  std::unique_ptr<std::istream> packed_;
  std::vector<std::uint8_t> input_;
};

using CodecPtr = std::unique_ptr<Codec>;

// The first bytes of a file, by which a packing is recognised: kHeadBytes, fewer where the file is shorter.
using FileHead = std::span<const std::uint8_t>;
constexpr std::size_t kHeadBytes = 16;
bool begins_with(FileHead head, std::initializer_list<std::uint8_t> magic);

struct CodecRow {
  std::string name;
  std::string summary;
  std::string ending;  // of file names: ".gz"; not empty
  std::function<bool(FileHead head)> fits;
  // `name` is the file's, for errors.
  std::function<CodecPtr(std::string name, std::unique_ptr<std::istream> packed)> make;
};
using CodecRegistry = base::RegistryOf<CodecRow>;

CodecRegistry builtin_codecs();
CodecRow gzip_row();
CodecRow xz_row();
CodecRow zstd_row();

// The content as it is: for files that no row fits.
CodecPtr plain_codec(std::string name, std::unique_ptr<std::istream> packed);

[[noreturn]] void damaged_archive(std::string_view name, std::string_view why);

}  // namespace trireme::data
