// Reads packed files (packed.h).
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "data/codecs/mapped_file.h"
#include "data/dataset/columns.h"
#include "data/dataset/table_schema.h"
#include "data/readers/image_settings.h"
#include "data/readers/packed.h"
#include "data/readers/packed_format.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using namespace packed;

constexpr std::int64_t kSamplesBetweenStops = 64;
constexpr std::uint64_t kMaxHeader = std::uint64_t{64} << 20;

std::uint64_t read_little_endian(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (int k = 7; k >= 0; --k)
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(k)]);
  return number;
}

[[noreturn]] void damaged(const fs::path& path, const std::string& why) {
  base::user_error("{} is damaged: {}; pack it again (trireme data pack)", path.string(), why);
}

Json read_header(const MappedFile& file) {
  const auto bytes = file.bytes();
  if (bytes.size() < kFrontBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    base::user_error("{} is no packed dataset: it does not begin with TRIREME1", file.path().string());
  const std::uint64_t length = read_little_endian(bytes.subspan(kMagic.size())),
                      checksum = read_little_endian(bytes.subspan(kMagic.size() + 8));
  if (length > kMaxHeader || length > bytes.size() - kFrontBytes) damaged(file.path(), "its header is cut short");
  const auto header = bytes.subspan(kFrontBytes, length);
  if (base::xxh3(header) != checksum) damaged(file.path(), "the checksum of its header is wrong");
  const auto* text = reinterpret_cast<const char*>(header.data());
  Json json = Json::parse(text, text + length, nullptr, false);
  if (json.is_discarded()) damaged(file.path(), "its header cannot be read");
  return json;
}

Column read_column(const MappedFile& file, const Json& json, std::int64_t samples) {
  Column column;
  column.shape = tensor::Shape(json.at("shape").get<std::vector<std::int64_t>>());
  const std::string type = json.at("type");
  if (type != "u8" && type != "f32") damaged(file.path(), "a column of type '" + type + "'");
  column.type = type == "u8" ? ValueType::byte : ValueType::real;
  const std::uint64_t offset = json.at("offset"), bytes = json.at("bytes"), size = file.bytes().size();
  std::uint64_t values = static_cast<std::uint64_t>(samples) * value_bytes(column.type);
  for (const std::int64_t n : column.shape.sizes())
    if (n < 0 || __builtin_mul_overflow(values, static_cast<std::uint64_t>(n), &values))
      damaged(file.path(), "a column of impossible size");
  if (values != bytes) damaged(file.path(), "a column's length is not that of its samples");
  if (offset % kPage != 0 || offset > size || bytes > size - offset)
    base::user_error("{} is cut short: it has {} bytes, a column ends at {}; copy or pack it again",
                     file.path().string(), size, offset + bytes);
  column.data = file.bytes().data() + offset;
  return column;
}

std::shared_ptr<const TableSchema> read_schema(const MappedFile& file, const Json& json) {
  try {
    return std::make_shared<const TableSchema>(schema_from_json(json.dump()));
  } catch (const std::exception&) {
    damaged(file.path(), "its header describes impossible columns");
  }
}

DatasetPtr read_split(const std::shared_ptr<const MappedFile>& file, const Json& header, const char* split) {
  const Json& json = header.at("splits").at(split);
  DataSpec spec;
  const auto target = target_kind(header.at("target").get<std::string>());
  if (!target) damaged(file->path(), "an unknown kind of target");
  spec.target = *target;
  spec.classes = header.at("classes");
  spec.class_names = header.at("class_names").get<std::vector<std::string>>();
  spec.table = header.value("table", false);
  if (header.contains("schema")) spec.schema = read_schema(*file, header.at("schema"));
  Columns columns;
  columns.samples = json.at("samples");
  if (columns.samples < 0 || spec.classes < 1 || json.at("inputs").size() > kMaxInputs)
    damaged(file->path(), "impossible numbers in its header");
  if (spec.target == TargetKind::classes && spec.classes > kMostClasses)
    damaged(file->path(), fmt::format("its header says {} classes, expected at most {}", spec.classes, kMostClasses));
  for (const Json& input : json.at("inputs")) {
    columns.inputs.push_back(read_column(*file, input, columns.samples));
    spec.inputs.push_back(columns.inputs.back().shape);
  }
  if (spec.schema && (spec.inputs.size() != 1 || spec.inputs[0].count() != input_values(*spec.schema)))
    damaged(file->path(), "its header describes columns of other inputs");
  columns.target = read_column(*file, json.at("target"), columns.samples);
  if (columns.target.shape.count() != target_floats(spec)) damaged(file->path(), "targets of another length");
  for (const Json& known : json.at("normalizations")) {
    Normalization normalization{known.at("kind"), {}};
    for (const Json& input : known.at("inputs"))
      normalization.inputs.push_back({input.at("mean"), input.at("divisor")});
    if (!normalization.inputs.empty() && normalization.inputs.size() != spec.inputs.size())
      damaged(file->path(), fmt::format("a normalization of {} inputs for samples of {}", normalization.inputs.size(),
                                        spec.inputs.size()));
    columns.normalizations.push_back(std::move(normalization));
  }
  columns.memory = file;
  check_targets(spec, columns, file->path().string());
  return column_source(std::move(spec), std::move(columns));
}

}  // namespace

DataPair open_packed(const fs::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  const Json header = read_header(*file);
  try {
    DataPair pair{read_split(file, header, kSplits[0]), read_split(file, header, kSplits[1])};
    pair.dataset = header.value("dataset", "");
    if (header.contains("images")) {
      const Json& images = header["images"];
      const std::optional<ImageFit> fit = fit_of(images.at("fit").get<std::string>());
      if (!fit) damaged(path, "an unknown way of fitting images");
      pair.images = ImageOptions{{}, *fit, images.at("upright")};
    }
    return pair;
  } catch (const Json::exception& error) {
    damaged(path, fmt::format("its header lacks something: {}", base::without_tag(error.what())));
  }
}

void verify_packed(const fs::path& path, const std::function<bool()>& stop) {
  const auto file = std::make_shared<const MappedFile>(path);
  const Json header = read_header(*file);
  try {
    for (const char* split : kSplits) {
      read_split(file, header, split);
      const Json& json = header.at("splits").at(split);
      const std::int64_t samples = json.at("samples");
      const auto verify = [&](const Json& part, const std::string& name) {
        const Column column = read_column(*file, part, samples);
        std::uint64_t checksum = 0;
        for (std::int64_t n = 0; n < samples; ++n) {
          if (stop && n % kSamplesBetweenStops == 0 && stop()) return;
          checksum = add_to_checksum(checksum, std::span(column.at(n), column.sample_bytes()));
        }
        if (fmt::format("{:016x}", checksum) != part.at("xxh3").get<std::string>())
          damaged(path, fmt::format("the checksum of the {} set's {} is wrong", split, name));
      };
      for (std::size_t i = 0; i < json.at("inputs").size(); ++i)
        verify(json.at("inputs")[i], fmt::format("input {}", i + 1));
      verify(json.at("target"), "targets");
    }
  } catch (const Json::exception& error) {
    damaged(path, fmt::format("its header lacks something: {}", base::without_tag(error.what())));
  }
}

}  // namespace trireme::data
