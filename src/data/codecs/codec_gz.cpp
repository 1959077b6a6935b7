#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/codecs/codec.h"

namespace trireme::data {
namespace {

class GzCodec : public Codec {
 public:
  GzCodec(std::string name, std::unique_ptr<std::istream> packed) : Codec(std::move(name), std::move(packed)) {
    base::check(inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib does not start");  // 15 + 16: gzip only, any window
  }
  ~GzCodec() override { inflateEnd(&stream_); }

  std::size_t decode(std::uint8_t* dst, std::size_t bytes) override {
    std::size_t done = 0;
    while (done < bytes && !ended_) {
      if (stream_.avail_in == 0) {
        stream_.next_in = input_.data();
        stream_.avail_in = static_cast<uInt>(refill());
        if (stream_.avail_in == 0) {
          if (!between_members_) damaged("the gzip archive is cut off");
          ended_ = true;
          break;
        }
      }
      if (between_members_) inflateReset(&stream_);
      between_members_ = false;
      const std::size_t piece = std::min<std::size_t>(bytes - done, std::size_t{1} << 30);
      stream_.next_out = dst + done;
      stream_.avail_out = static_cast<uInt>(piece);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += piece - stream_.avail_out;
      if (status == Z_STREAM_END)
        between_members_ = true;  // a gzip file may consist of several members
      else if (status != Z_OK && status != Z_BUF_ERROR)
        damaged(stream_.msg ? stream_.msg : "the gzip archive cannot be unpacked");
    }
    return done;
  }

 private:
  z_stream stream_{};
  bool between_members_ = false;
  bool ended_ = false;
};

}  // namespace

CodecRow gzip_row() {
  return {.name = "gzip",
          .summary = "gzip archives, also several in a row",
          .ending = ".gz",
          .fits =
              [](FileHead head) {
                return begins_with(head, {0x1f, 0x8b});
              },
          .make =
              [](std::string name, std::unique_ptr<std::istream> packed) {
                return std::make_unique<GzCodec>(std::move(name), std::move(packed));
              }};
}

}  // namespace trireme::data
