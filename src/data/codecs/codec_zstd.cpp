#include <zstd.h>
#include <zstd_errors.h>

#include <utility>

#include "base/error.h"
#include "data/codecs/codec.h"

namespace trireme::data {
namespace {

constexpr int kWindowLog = 27;  // 128 MiB: the window of the highest level; only --long needs more

class ZstdCodec : public Codec {
 public:
  ZstdCodec(std::string name, std::unique_ptr<std::istream> packed)
      : Codec(std::move(name), std::move(packed)), context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    base::check(context_ != nullptr, "zstd does not start");
    const std::size_t status = ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kWindowLog);
    base::check(!ZSTD_isError(status), "zstd refuses a window of 2^{} bytes", kWindowLog);
  }

  std::size_t decode(std::uint8_t* dst, std::size_t bytes) override {
    ZSTD_outBuffer out{dst, bytes, 0};
    while (out.pos < out.size && !ended_) {
      if (in_.pos == in_.size && !file_ended_) {
        in_ = {input_.data(), refill(), 0};
        file_ended_ = in_.size == 0;
      }
      ended_ = file_ended_ && between_frames_;
      if (!ended_) step(out);
    }
    return out.pos;
  }

 private:
  // At the end of the file zstd may still hold output; if it produces none either, the archive is truncated.
  void step(ZSTD_outBuffer& out) {
    const std::size_t had = out.pos;
    const std::size_t status = ZSTD_decompressStream(context_.get(), &out, &in_);
    if (ZSTD_isError(status)) {
      if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge)
        damaged("the zstd archive asks for too much memory (was it packed with --long?)");
      damaged(ZSTD_getErrorName(status));
    }
    between_frames_ = status == 0;  // a zstd file may consist of several frames
    if (file_ended_ && !between_frames_ && out.pos == had) damaged("the zstd archive is cut off");
  }

  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool between_frames_ = false;
  bool file_ended_ = false;
  bool ended_ = false;
};

// A frame or a skippable frame: parallel compressors write a skippable frame first.
bool is_zstd(FileHead head) {
  const bool skipped = head.size() >= 4 && head[0] >> 4 == 5 && begins_with(head.subspan(1), {0x2a, 0x4d, 0x18});
  return skipped || begins_with(head, {0x28, 0xb5, 0x2f, 0xfd});
}

}  // namespace

CodecRow zstd_row() {
  return {.name = "zstd",
          .summary = "zstd archives of any level (not those of --long)",
          .ending = ".zst",
          .fits = is_zstd,
          .make = [](std::string name, std::unique_ptr<std::istream> packed) {
            return std::make_unique<ZstdCodec>(std::move(name), std::move(packed));
          }};
}

}  // namespace trireme::data
