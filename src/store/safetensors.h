// Reads and writes the safetensors format, as Python's `safetensors` package does. Safe from any thread.
//
//   file   := length header data
//   length := 8 bytes, little-endian: the bytes of header
//   header := a JSON object, then spaces so that data starts on 8 bytes:
//             {"__metadata__": {"key": "text", ...}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [b, e]}}
//   data   := the tensors' values, little-endian, row-major, one after the other without gaps; [b, e) counts from the
//             start of data
//
// Writes F32. Reads F32, and I64 and U8 as floats. Files may come from untrusted sources: any defect is a user error
// that names the file.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/system/files.h"
#include "tensor/shape.h"

namespace trireme::store {

struct NamedTensor {
  std::string name;
  tensor::Shape shape;
  std::vector<float> values;  // row-major
};

struct SafetensorsFile {
  std::string path;                  // for messages
  std::vector<NamedTensor> tensors;  // in the order of their data
  std::map<std::string, std::string> metadata;
  // The tensor of this name, or null.
  const NamedTensor* find(const std::string& name) const;
};

// Writes beside the target, syncs and renames; returns the SHA-256 of the file. A failure is a run error.
std::string write_safetensors(const base::fs::path& path, std::span<const NamedTensor> tensors,
                              const std::map<std::string, std::string>& metadata = {});

[[nodiscard]] SafetensorsFile read_safetensors(const base::fs::path& path);
// The same from memory; `path` only appears in errors.
[[nodiscard]] SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, const std::string& path);

}  // namespace trireme::store
