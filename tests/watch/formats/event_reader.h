// Reads event files of TensorBoard back, as far as the tests look at them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "watch/formats/record_file.h"

namespace trireme::watch {

// The records; an exception if a length or a checksum is wrong. A record that is cut off ends the list.
inline std::vector<std::string> read_records(std::string_view bytes) {
  const auto word = [&](std::size_t from) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + from, sizeof value);
    return value;
  };
  std::vector<std::string> records;
  while (bytes.size() >= 12) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    if (word(8) != masked_crc(crc32c(bytes.substr(0, 8)))) throw std::runtime_error("the checksum of a length");
    if (bytes.size() < 16 + length) break;
    const std::string_view content = bytes.substr(12, length);
    if (word(12 + length) != masked_crc(crc32c(content))) throw std::runtime_error("the checksum of a record");
    records.emplace_back(content);
    bytes.remove_prefix(16 + length);
  }
  return records;
}

// A message's fields by number, in order: integers as text, everything else as its bytes.
inline std::multimap<int, std::string> read_fields(std::string_view bytes) {
  std::multimap<int, std::string> fields;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(bytes.at(0));
      bytes.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (!bytes.empty()) {
    const std::uint64_t key = varint();
    std::string value;
    if ((key & 7) == 0) {
      value = std::to_string(varint());
    } else {
      const std::size_t size = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : varint();
      value = bytes.substr(0, size);
      bytes.remove_prefix(size);
    }
    fields.emplace(static_cast<int>(key >> 3), std::move(value));
  }
  return fields;
}

inline std::string field(std::string_view message, int number) {
  const auto fields = read_fields(message);
  const auto found = fields.find(number);
  return found == fields.end() ? std::string() : found->second;
}

// What a reader of the whole file would show.
struct SeenEvents {
  std::map<std::string, std::map<std::int64_t, float>> scalars;       // by tag and step
  std::map<std::string, std::map<std::int64_t, std::string>> others;  // the tensor's message
  std::map<std::string, std::string> plugin_data;                     // by tag
  int starts = 0;
};

inline SeenEvents read_events(std::string_view bytes, SeenEvents seen = {}) {
  for (const std::string& record : read_records(bytes)) {
    const std::int64_t step = field(record, 2).empty() ? 0 : std::stoll(field(record, 2));
    if (!field(record, 7).empty() && seen.starts++ > 0) {
      const auto forget = [&](auto& values) {
        for (auto& [tag, by_step] : values)
          std::erase_if(by_step, [&](const auto& each) { return each.first >= step; });
      };
      forget(seen.scalars);
      forget(seen.others);
    }
    const auto values = read_fields(field(record, 5));
    for (auto [value, end] = values.equal_range(1); value != end; ++value) {
      const std::string tag = field(value->second, 1);
      if (const std::string scalar = field(value->second, 2); !scalar.empty()) {
        float number = 0;
        std::memcpy(&number, scalar.data(), sizeof number);
        seen.scalars[tag][step] = number;
      } else {
        seen.others[tag][step] = field(value->second, 8);
        seen.plugin_data[tag] = field(field(value->second, 9), 1);
      }
    }
  }
  return seen;
}

}  // namespace trireme::watch
