#include "data/codecs/codec.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace trireme::data {
namespace {

constexpr std::size_t kInputBytes = std::size_t{1} << 16;

class PlainCodec : public Codec {
 public:
  using Codec::Codec;
  std::size_t decode(std::uint8_t* dst, std::size_t bytes) override { return read_packed(dst, bytes); }
};

}  // namespace

void damaged_archive(std::string_view name, std::string_view why) {
  base::user_error("{} is damaged: {}; fetch or copy the file again", name, why);
}

Codec::Codec(std::string name, std::unique_ptr<std::istream> packed)
    : name_(std::move(name)), packed_(std::move(packed)), input_(kInputBytes) {}

std::size_t Codec::read_packed(std::uint8_t* dst, std::size_t bytes) {
  packed_->read(reinterpret_cast<char*>(dst), static_cast<std::streamsize>(bytes));
  if (packed_->bad()) base::user_error("cannot read {}: {}", name_, std::strerror(errno));
  return static_cast<std::size_t>(packed_->gcount());
}

void Codec::damaged(std::string_view why) const { damaged_archive(name_, why); }

bool begins_with(FileHead head, std::initializer_list<std::uint8_t> magic) {
  return head.size() >= magic.size() && std::equal(magic.begin(), magic.end(), head.begin());
}

CodecRegistry builtin_codecs() { return CodecRegistry("packing", {gzip_row(), xz_row(), zstd_row()}); }

CodecPtr plain_codec(std::string name, std::unique_ptr<std::istream> packed) {
  return std::make_unique<PlainCodec>(std::move(name), std::move(packed));
}

}  // namespace trireme::data
