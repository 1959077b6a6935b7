// The ways a file may be packed. A codec makes content of packed bytes, as much of it as it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
CodecPtr plain_codec(std::string name, std::unique_ptr<std::istream> packed);
CodecPtr gz_codec(std::string name, std::unique_ptr<std::istream> packed);
CodecPtr xz_codec(std::string name, std::unique_ptr<std::istream> packed);
CodecPtr zstd_codec(std::string name, std::unique_ptr<std::istream> packed);

[[noreturn]] void damaged_archive(std::string_view name, std::string_view why);

}  // namespace trireme::data
