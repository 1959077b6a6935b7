// Writes packed files (packed.h).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/system/files.h"
#include "data/dataset/columns.h"
#include "data/dataset/table_schema.h"
#include "data/readers/image_settings.h"
#include "data/readers/packed.h"
#include "data/readers/packed_format.h"
#include "data/stages/normalize.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using namespace packed;

const char* type_name(ValueType type) { return type == ValueType::byte ? "u8" : "f32"; }

// One column of a dataset, sample by sample: taken from memory where the samples lie there, else fetched.
class ColumnWriter {
 public:
  ColumnWriter(const Dataset& set, std::size_t column) : set_(set), column_(column) {
    const std::size_t inputs = set.spec().inputs.size();
    if (const Columns* stored = set.columns()) {
      stored_ = column < inputs ? stored->inputs[column] : stored->target;
      return;
    }
    stored_.type = ValueType::real;
    stored_.shape = column < inputs ? set.spec().inputs[column] : tensor::Shape{target_floats(set.spec())};
    for (const tensor::Shape& shape : set.spec().inputs) sample_.emplace_back(static_cast<std::size_t>(shape.count()));
    for (auto& input : sample_) places_.push_back(input.data());
    target_.resize(static_cast<std::size_t>(target_floats(set.spec())));
  }

  const Column& column() const { return stored_; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(set_.size()) * stored_.sample_bytes(); }

  template <class Take>
  void each_sample(const Take& take) {
    for (std::int64_t n = 0; n < set_.size(); ++n) {
      if (stored_.data != nullptr) {
        take(std::span(stored_.at(n), stored_.sample_bytes()));
        continue;
      }
      set_.fetch(n, {}, places_, target_.data());
      take(std::as_bytes(std::span(column_ < sample_.size() ? sample_[column_] : target_)));
    }
  }

 private:
  const Dataset& set_;
  std::size_t column_;
  Column stored_;
  std::vector<std::vector<float>> sample_;
  std::vector<float*> places_;
  std::vector<float> target_;
};

// A file written under a temporary name and renamed when it is complete.
class NewFile {
 public:
  explicit NewFile(fs::path path) : path_(std::move(path)), partial_(path_.string() + ".partial") {
    descriptor_ = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor_ < 0)
      base::user_error("cannot write {}: {}{}", partial_.string(), std::strerror(errno),
                       errno == EEXIST ? "; if no other program is writing it, remove it" : "");
  }
  ~NewFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!done_) unlink(partial_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    written_ += bytes.size();
    while (!bytes.empty()) {
      const std::size_t part = std::min(bytes.size(), kBuffer - buffer_.size());
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
      bytes = bytes.subspan(part);
      if (buffer_.size() == kBuffer) flush();
    }
  }
  void fill_to(std::uint64_t offset) { write(std::vector<std::byte>(offset - written_)); }
  void finish() {
    flush();
    if (fsync(descriptor_) != 0) base::run_error("cannot write {}: {}", partial_.string(), std::strerror(errno));
    // Never replaces a file that appeared meanwhile. File systems without RENAME_NOREPLACE get a hard link instead,
    // which fails if the name exists.
    done_ = renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
    if (!done_ && (errno != EINVAL || link(partial_.c_str(), path_.c_str()) != 0))
      base::run_error("cannot write {}: {}", path_.string(), std::strerror(errno));
  }

 private:
  // Writes of whole huge pages let the system keep the file in huge pages, where it can: mapping it is then four times
  // as fast.
  static constexpr std::size_t kBuffer = std::size_t{2} << 20;

  void flush() {
    for (std::size_t done = 0; done < buffer_.size();) {
      const ssize_t got = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) base::run_error("cannot write {}: {}", partial_.string(), std::strerror(errno));
      done += static_cast<std::size_t>(got);
    }
    buffer_.clear();
  }

  fs::path path_, partial_;
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
  std::uint64_t written_ = 0;
  bool done_ = false;
};

Json normalization_json(const Normalization& normalization) {
  Json inputs = Json::array();
  for (const InputNormalization& input : normalization.inputs)
    inputs.push_back({{"mean", input.mean}, {"divisor", input.divisor}});
  return {{"kind", normalization.kind}, {"inputs", inputs}};
}

// The header's entry for one column. The checksum has a fixed number of digits.
Json column_json(const ColumnWriter& writer, std::uint64_t offset, std::uint64_t checksum) {
  return {{"type", type_name(writer.column().type)},
          {"shape", writer.column().shape.sizes()},
          {"offset", offset},
          {"bytes", writer.bytes()},
          {"xxh3", fmt::format("{:016x}", checksum)}};
}

std::string front(const std::string& header) {
  std::string bytes(kMagic.begin(), kMagic.end());
  const std::array<std::uint64_t, 2> numbers{header.size(), base::xxh3(std::as_bytes(std::span(header)))};
  for (const std::uint64_t number : numbers)
    for (int k = 0; k < 8; ++k) bytes.push_back(static_cast<char>(number >> (8 * k)));
  return bytes + header;
}

Json splits_json(const std::array<const Dataset*, 2>& sets, const std::vector<ColumnWriter>& writers,
                 const std::vector<std::uint64_t>& checksums, const Json& normalizations, std::uint64_t offset) {
  Json splits;
  const std::size_t inputs = sets[0]->spec().inputs.size();
  for (std::size_t s = 0, w = 0; s < sets.size(); ++s) {
    Json& split = splits[kSplits[s]];
    split = {{"samples", sets[s]->size()}, {"inputs", Json::array()}};
    split["normalizations"] = s == 0 ? normalizations : Json::array();
    for (std::size_t column = 0; column <= inputs; ++column, ++w) {
      (column < inputs ? split["inputs"].emplace_back() : split["target"]) =
          column_json(writers[w], offset, checksums[w]);
      offset += whole_pages(writers[w].bytes());
    }
  }
  return splits;
}

}  // namespace

void write_packed(const fs::path& path, const DataPair& pair) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) base::user_error("{} exists already; choose another name", path.string());
  const DataSpec& spec = pair.train->spec();
  Json header{{"target", target_name(spec.target)}, {"classes", spec.classes}, {"class_names", spec.class_names}};
  if (!pair.dataset.empty()) header["dataset"] = pair.dataset;
  if (spec.table) header["table"] = true;
  if (spec.schema) header["schema"] = Json::parse(to_json(*spec.schema));
  if (pair.images) header["images"] = {{"fit", fit_name(pair.images->fit)}, {"upright", pair.images->turn_upright}};
  const std::array<const Dataset*, 2> sets{pair.train.get(), pair.test.get()};
  std::vector<ColumnWriter> writers;
  for (const Dataset* set : sets)
    for (std::size_t column = 0; column <= spec.inputs.size(); ++column) writers.emplace_back(*set, column);
  // All samples are read twice, because the checksums come before them in the file.
  std::vector<std::uint64_t> checksums;
  for (ColumnWriter& writer : writers) {
    std::uint64_t checksum = 0;
    writer.each_sample([&](std::span<const std::byte> sample) { checksum = add_to_checksum(checksum, sample); });
    checksums.push_back(checksum);
  }
  Json normalizations = Json::array();
  for (const std::string& kind : normalization_kinds())
    if (kind != "none") normalizations.push_back(normalization_json(compute_normalization(pair.train, kind)));
  // The offset of the first column depends on the header's length, which depends on the digits of the offsets: repeat
  // until it fits.
  std::uint64_t first = kPage;
  std::string bytes;
  for (;;) {
    header["splits"] = splits_json(sets, writers, checksums, normalizations, first);
    bytes = front(header.dump());
    if (bytes.size() <= first) break;
    first = whole_pages(bytes.size() + kPage);
  }
  NewFile file(path);
  file.write(std::as_bytes(std::span(bytes)));
  std::uint64_t offset = first;
  for (ColumnWriter& writer : writers) {
    file.fill_to(offset);
    writer.each_sample([&](std::span<const std::byte> sample) { file.write(sample); });
    offset += whole_pages(writer.bytes());
  }
  file.finish();
  base::sync_folder(fs::absolute(path).parent_path());
}

}  // namespace trireme::data
