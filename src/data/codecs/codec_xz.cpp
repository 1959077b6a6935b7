#include <lzma.h>

#include <utility>

#include "base/error.h"
#include "data/codecs/codec.h"

namespace trireme::data {
namespace {

constexpr std::uint64_t kMemoryLimit = std::uint64_t{512} << 20;  // more than any xz preset needs to decompress

class XzCodec : public Codec {
 public:
  XzCodec(std::string name, std::unique_ptr<std::istream> packed) : Codec(std::move(name), std::move(packed)) {
    base::check(lzma_stream_decoder(&stream_, kMemoryLimit, LZMA_CONCATENATED) == LZMA_OK, "liblzma does not start");
  }
  ~XzCodec() override { lzma_end(&stream_); }

  std::size_t decode(std::uint8_t* dst, std::size_t bytes) override {
    stream_.next_out = dst;
    stream_.avail_out = bytes;
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0 && !file_ended_) {
        stream_.next_in = input_.data();
        stream_.avail_in = refill();
        file_ended_ = stream_.avail_in == 0;
      }
      const lzma_ret status = lzma_code(&stream_, file_ended_ ? LZMA_FINISH : LZMA_RUN);
      switch (status) {
        case LZMA_OK: break;
        case LZMA_STREAM_END: ended_ = true; break;
        case LZMA_BUF_ERROR: damaged("the xz archive is cut off");
        case LZMA_MEMLIMIT_ERROR: damaged("the xz archive asks for too much memory");
        default: damaged("the xz archive cannot be unpacked");
      }
    }
    return bytes - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool file_ended_ = false;
  bool ended_ = false;
};

}  // namespace

CodecRow xz_row() {
  return {.name = "xz",
          .summary = "xz archives of any preset",
          .ending = ".xz",
          .fits =
              [](FileHead head) {
                return begins_with(head, {0xfd, '7', 'z', 'X', 'Z', 0x00});
              },
          .make =
              [](std::string name, std::unique_ptr<std::istream> packed) {
                return std::make_unique<XzCodec>(std::move(name), std::move(packed));
              }};
}

}  // namespace trireme::data
