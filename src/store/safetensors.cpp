#include "store/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/text/text.h"
#include "store/file_writer.h"

namespace trireme::store {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

constexpr std::size_t kMaxHeader = 100'000'000;  // the limit of the Python package
constexpr const char* kMetadata = "__metadata__";

struct Entry {
  std::string name;
  std::string dtype;
  tensor::Shape shape;
  std::size_t begin = 0, end = 0;
};

template <class... A>
[[noreturn]] void damaged(const std::string& path, fmt::format_string<A...> text, A&&... a) {
  base::user_error("{} is not a whole safetensors file: {}", path, fmt::format(text, std::forward<A>(a)...));
}

std::size_t element_bytes(const std::string& path, const Entry& entry) {
  if (entry.dtype == "F32") return 4;
  if (entry.dtype == "I64") return 8;
  if (entry.dtype == "U8") return 1;
  base::user_error("{}: tensor '{}' holds {}, which is not supported; convert it to F32 (I64 and U8 are read too)",
                   path, entry.name, entry.dtype);
}

// Parses the header. JSON parsers silently keep the last of two equal keys, so duplicates are rejected while parsing;
// so is nesting deeper than the format allows.
Json parse_header(std::string_view header, const std::string& path) {
  std::set<std::string> names;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > 3) damaged(path, "its header is nested too deeply");
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
      damaged(path, "two tensors are called '{}'", parsed.get<std::string>());
    return true;
  };
  try {
    Json json = Json::parse(header, watch);
    if (!json.is_object()) damaged(path, "its header is not a JSON object");
    return json;
  } catch (const Json::exception& error) {
    damaged(path, "its header is not valid JSON ({})", base::without_tag(error.what()));
  }
}

Entry read_entry(const std::string& name, const Json& json, const std::string& path) {
  Entry entry;
  entry.name = name;
  const auto unsigned_list = [&](const char* key) {
    std::vector<std::int64_t> list;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array()) damaged(path, "tensor '{}' has no {}", name, key);
    for (const Json& number : *found) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > (std::uint64_t{1} << 62))
        damaged(path, "tensor '{}' has a {} that is not a list of sizes", name, key);
      list.push_back(number.get<std::int64_t>());
    }
    return list;
  };
  if (!json.is_object()) damaged(path, "tensor '{}' has no description", name);
  const auto dtype = json.find("dtype");
  if (dtype == json.end() || !dtype->is_string()) damaged(path, "tensor '{}' has no dtype", name);
  entry.dtype = dtype->get<std::string>();
  entry.shape = tensor::Shape(unsigned_list("shape"));
  const auto offsets = unsigned_list("data_offsets");
  if (offsets.size() != 2) damaged(path, "tensor '{}' has {} data_offsets, 2 were expected", name, offsets.size());
  entry.begin = static_cast<std::size_t>(offsets[0]);
  entry.end = static_cast<std::size_t>(offsets[1]);
  return entry;
}

void check_entry(const Entry& entry, std::size_t data_bytes, const std::string& path) {
  const std::size_t size = element_bytes(path, entry);
  if (entry.begin > entry.end || entry.end > data_bytes)
    damaged(path, "tensor '{}' is said to lie at bytes {} to {} of {}", entry.name, entry.begin, entry.end, data_bytes);
  if (entry.begin % size != 0)
    damaged(path, "tensor '{}' starts at byte {}, which is no multiple of {}", entry.name, entry.begin, size);
  std::size_t bytes = size;
  bool overflow = false;
  const bool empty = std::ranges::find(entry.shape.sizes(), 0) != entry.shape.sizes().end();
  for (const std::int64_t n : entry.shape.sizes())
    overflow = overflow || __builtin_mul_overflow(bytes, static_cast<std::size_t>(n), &bytes);
  if (empty) bytes = 0, overflow = false;
  if (overflow || bytes != entry.end - entry.begin)
    damaged(path, "tensor '{}' has shape {} of {} but {} bytes", entry.name, entry.shape.text(), entry.dtype,
            entry.end - entry.begin);
}

template <class T>
void convert(const std::byte* src, std::vector<float>& dst) {
  for (std::size_t i = 0; i < dst.size(); ++i) {
    T value;
    std::memcpy(&value, src + i * sizeof(T), sizeof(T));
    dst[i] = static_cast<float>(value);
  }
}

NamedTensor read_values(const Entry& entry, std::span<const std::byte> data, const std::string& path) {
  const std::size_t bytes = entry.end - entry.begin;
  NamedTensor result{entry.name, entry.shape, std::vector<float>(bytes / element_bytes(path, entry))};
  const std::byte* src = data.data() + entry.begin;
  if (entry.dtype == "I64") {
    convert<std::int64_t>(src, result.values);
  } else if (entry.dtype == "U8") {
    convert<std::uint8_t>(src, result.values);
  } else if (bytes > 0) {
    std::memcpy(result.values.data(), src, bytes);
  }
  return result;
}

std::string make_header(std::span<const NamedTensor> tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::set<std::string> names{kMetadata};
  std::size_t position = 0;
  for (const NamedTensor& tensor : tensors) {
    base::check(names.insert(tensor.name).second, "a tensor cannot be called '{}' (again)", tensor.name);
    base::check(tensor.shape.count() == static_cast<std::int64_t>(tensor.values.size()),
                "tensor '{}' of shape {} has {} values", tensor.name, tensor.shape.text(), tensor.values.size());
    const std::size_t end = position + tensor.values.size() * sizeof(float);
    const auto sizes = tensor.shape.sizes();
    header[tensor.name] = {{"dtype", "F32"},
                           {"shape", std::vector<std::int64_t>(sizes.begin(), sizes.end())},
                           {"data_offsets", {position, end}}};
    position = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

const NamedTensor* SafetensorsFile::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, &NamedTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

std::string write_safetensors(const base::fs::path& path, std::span<const NamedTensor> tensors,
                              const std::map<std::string, std::string>& metadata) {
  const std::string header = make_header(tensors, metadata);
  const std::uint64_t length = header.size();
  FileWriter file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(header)));
  for (const NamedTensor& tensor : tensors) file.write(std::as_bytes(std::span(tensor.values)));
  return file.commit();
}

SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, const std::string& path) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) damaged(path, "it has {} bytes", bytes.size());
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::size_t rest = bytes.size() - sizeof length;
  if (length > kMaxHeader) damaged(path, "its header would have {} bytes, more than {} allowed", length, kMaxHeader);
  if (length > rest) damaged(path, "its header should have {} bytes, but only {} follow", length, rest);
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + sizeof length, length);
  const std::span<const std::byte> data = bytes.subspan(sizeof length + length);

  SafetensorsFile file;
  file.path = path;
  std::vector<Entry> entries;
  const Json described = parse_header(header, path);
  for (const auto& [name, json] : described.items()) {
    if (name != kMetadata) {
      entries.push_back(read_entry(name, json, path));
      check_entry(entries.back(), data.size(), path);
      continue;
    }
    if (!json.is_object()) damaged(path, "its metadata are not a list of texts");
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string()) damaged(path, "its metadata '{}' is not a text", key);
      file.metadata[key] = value.get<std::string>();
    }
  }
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  std::size_t position = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < position) damaged(path, "tensor '{}' overlaps the one before it", entry.name);
    if (entry.begin > position) damaged(path, "there is a gap before tensor '{}'", entry.name);
    position = entry.end;
  }
  if (position != data.size()) damaged(path, "its tensors end at byte {} of {} bytes of data", position, data.size());
  for (const Entry& entry : entries) file.tensors.push_back(read_values(entry, data, path));
  return file;
}

SafetensorsFile read_safetensors(const base::fs::path& path) {
  std::error_code cause;
  if (base::fs::exists(path, cause) && !base::fs::is_regular_file(path, cause))
    base::user_error("{} is not a regular file, a safetensors file was expected", path.string());
  return parse_safetensors(base::read_file(path), path.string());
}

}  // namespace trireme::store
