#include "data/codecs/decompress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "data/codecs/byte_stream.h"
#include "data/codecs/codec.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kGrowBytes = std::size_t{64} << 20;
}  // namespace

UnpackedReader::UnpackedReader(const CodecRegistry& codecs, fs::path path) : path_(std::move(path)) {
  choose_codec(codecs, open_bytes(path_));
}

UnpackedReader::UnpackedReader(const CodecRegistry& codecs, std::span<const std::uint8_t> bytes, fs::path path)
    : path_(std::move(path)) {
  choose_codec(codecs, open_bytes(bytes));
}

UnpackedReader::~UnpackedReader() = default;

void UnpackedReader::choose_codec(const CodecRegistry& codecs, std::unique_ptr<std::istream> packed) {
  std::array<std::uint8_t, kHeadBytes> bytes{};
  packed->read(reinterpret_cast<char*>(bytes.data()), bytes.size());
  const FileHead head(bytes.data(), static_cast<std::size_t>(packed->gcount()));
  packed->clear();
  packed->seekg(0);
  const std::string ending = path_.extension().string();
  const CodecRow* found = nullptr;
  for (const CodecRow& row : codecs.rows()) {
    const bool fits = row.fits(head);
    if (fits && found == nullptr) found = &row;
    if (ending == row.ending && !fits)
      damaged_archive(path_.string(),
                      fmt::format("its name ends in {} but it does not begin like {} data", row.ending, row.name));
  }
  codec_ = found ? found->make(path_.string(), std::move(packed)) : plain_codec(path_.string(), std::move(packed));
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

fs::path find_packed(const CodecRegistry& codecs, const fs::path& folder, std::string_view stem) {
  const auto existing = [&](const std::string& ending) {
    fs::path path = folder / (std::string(stem) + ending);
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) ? path : fs::path();
  };
  fs::path path = existing("");
  for (const CodecRow& row : codecs.rows())
    if (path.empty()) path = existing(row.ending);
  return path;
}

fs::path without_packing(const CodecRegistry& codecs, const fs::path& path) {
  for (const CodecRow& row : codecs.rows())
    if (path.extension() == row.ending) return fs::path(path).replace_extension();
  return path;
}

}  // namespace trireme::data
