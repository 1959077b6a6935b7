#include "data/decompress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "data/byte_stream.h"
#include "data/codec.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kGrowBytes = std::size_t{64} << 20;
constexpr std::size_t kHeadBytes = 6;
using Head = std::span<const std::uint8_t>;

bool begins_with(Head head, std::initializer_list<std::uint8_t> magic) {
  return head.size() >= magic.size() && std::equal(magic.begin(), magic.end(), head.begin());
}

bool is_gz(Head head) { return begins_with(head, {0x1f, 0x8b}); }
bool is_xz(Head head) { return begins_with(head, {0xfd, '7', 'z', 'X', 'Z', 0x00}); }
// A frame, or one to be skipped: parallel packers put such a frame first.
bool is_zstd(Head head) {
  const bool skipped = head.size() >= 4 && head[0] >> 4 == 5 && begins_with(head.subspan(1), {0x2a, 0x4d, 0x18});
  return skipped || begins_with(head, {0x28, 0xb5, 0x2f, 0xfd});
}

struct Packing {
  const char* ending;
  const char* name;
  bool (*begins)(Head head);
  CodecPtr (*codec)(std::string name, std::unique_ptr<std::istream> packed);
};

constexpr std::array kPackings = {Packing{".gz", "a gzip", is_gz, gz_codec}, Packing{".xz", "an xz", is_xz, xz_codec},
                                  Packing{".zst", "a zstd", is_zstd, zstd_codec}};

}  // namespace

UnpackedReader::UnpackedReader(fs::path path) : path_(std::move(path)) { choose_codec(open_bytes(path_)); }

UnpackedReader::UnpackedReader(std::span<const std::uint8_t> bytes, fs::path path) : path_(std::move(path)) {
  choose_codec(open_bytes(bytes));
}

UnpackedReader::~UnpackedReader() = default;

void UnpackedReader::choose_codec(std::unique_ptr<std::istream> packed) {
  std::array<std::uint8_t, kHeadBytes> bytes{};
  packed->read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  const Head head(bytes.data(), static_cast<std::size_t>(packed->gcount()));
  packed->clear();
  packed->seekg(0);
  const std::string ending = path_.extension().string();
  const Packing* found = nullptr;
  for (const Packing& packing : kPackings) {
    if (packing.begins(head)) found = &packing;
    if (ending == packing.ending && !packing.begins(head))
      damaged_archive(path_.string(), fmt::format("its name ends in {} but it does not begin like {} archive",
                                                  packing.ending, packing.name));
  }
  codec_ = (found ? found->codec : plain_codec)(path_.string(), std::move(packed));
}

std::size_t UnpackedReader::read(std::uint8_t* dst, std::size_t bytes) { return codec_->decode(dst, bytes); }

std::vector<std::uint8_t> UnpackedReader::read_exactly(std::size_t bytes, std::string_view what) {
  std::vector<std::uint8_t> content;
  while (content.size() < bytes) {
    const std::size_t had = content.size();
    content.resize(std::min(bytes, had + kGrowBytes));
    const std::size_t got = read(content.data() + had, content.size() - had);
    if (had + got < content.size())
      base::user_error(
          "{} is cut short: {} takes {} bytes, but the content ends after {}; fetch or copy the file again",
          path_.string(), what, bytes, had + got);
  }
  return content;
}

void UnpackedReader::expect_end() {
  std::uint8_t extra;
  if (read(&extra, 1) != 0)
    base::user_error("{} is longer than its format allows; fetch or copy the file again", path_.string());
}

fs::path find_packed(const fs::path& folder, std::string_view stem) {
  const auto existing = [&](const char* ending) {
    fs::path path = folder / (std::string(stem) + ending);
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) ? path : fs::path();
  };
  fs::path path = existing("");
  for (const Packing& packing : kPackings)
    if (path.empty()) path = existing(packing.ending);
  return path;
}

fs::path without_packing(const fs::path& path) {
  for (const Packing& packing : kPackings)
    if (path.extension() == packing.ending) return fs::path(path).replace_extension();
  return path;
}

}  // namespace trireme::data
