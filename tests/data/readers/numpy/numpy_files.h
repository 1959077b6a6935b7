// .npy and .npz files as bytes, made here so that the tests need no Python.
#pragma once

#include <bit>
#include <cstring>

#include "data/helpers.h"

namespace trireme::data {

inline void put_little(Bytes& bytes, std::uint64_t n, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(n >> (8 * i)));
}

inline void append(Bytes& bytes, const Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }

// An array with this header text, padded as NumPy pads it.
inline Bytes npy_with_header(std::string text, const Bytes& values, int version = 1) {
  const std::size_t before = version == 1 ? 10 : 12;
  while ((before + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
  put_little(bytes, text.size(), version == 1 ? 2 : 4);
  bytes.insert(bytes.end(), text.begin(), text.end());
  append(bytes, values);
  return bytes;
}

inline std::string npy_header(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

inline Bytes npy(const std::string& type, const std::string& shape, const Bytes& values, bool fortran = false) {
  return npy_with_header(npy_header(type, shape, fortran), values);
}

// The bytes of numbers of type T, little-endian or big-endian.
template <class T>
Bytes raw(const std::vector<T>& values, bool big_endian = false) {
  Bytes bytes;
  for (const T value : values) {
    std::uint8_t one[sizeof(T)];
    std::memcpy(one, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes.push_back(one[big_endian ? sizeof(T) - 1 - i : i]);
  }
  return bytes;
}

inline Bytes npy_bytes(const std::string& shape, std::size_t count, std::uint8_t start = 0) {
  Bytes values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint8_t>(start + i);
  return npy("|u1", shape, values);
}

inline Bytes npy_labels(const std::vector<std::int64_t>& labels) {
  return npy("<i8", "(" + std::to_string(labels.size()) + ",)", raw(labels));
}

struct ZipFile {
  std::string name;
  Bytes content;
  bool deflated = false;
};

struct ZipStyle {
  bool directory64 = false;  // sizes and directory as ZIP64, as for archives beyond 4 GB
  std::string comment;
};

inline Bytes deflated(const Bytes& content) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes packed(deflateBound(&stream, content.size()) + 64), copy = content;
  stream.next_in = copy.data();
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Numbers of a record with their lengths in bytes, one after another.
struct Field {
  std::uint64_t value;
  int bytes;
};
inline void put_fields(Bytes& bytes, const std::vector<Field>& fields) {
  for (const Field& field : fields) put_little(bytes, field.value, field.bytes);
}

inline constexpr std::uint64_t kIn64 = 0xffffffff;  // the number stands in the ZIP64 record

struct ZipPlace {
  std::uint64_t at, packed, size, crc, method;
};

// The file's local header, with ZIP64 sizes as np.savez writes them, and its content.
inline ZipPlace put_zip_file(Bytes& bytes, const ZipFile& file) {
  const Bytes packed = file.deflated ? deflated(file.content) : file.content;
  const ZipPlace place{bytes.size(), packed.size(), file.content.size(),
                       crc32(0, file.content.data(), static_cast<uInt>(file.content.size())),
                       file.deflated ? std::uint64_t{8} : 0};
  put_fields(bytes, {{0x04034b50, 4}, {45, 2}, {0, 2}, {place.method, 2}, {0, 2}, {33, 2}, {place.crc, 4}});
  put_fields(bytes, {{kIn64, 4}, {kIn64, 4}, {file.name.size(), 2}, {20, 2}});
  append(bytes, Bytes(file.name.begin(), file.name.end()));
  put_fields(bytes, {{1, 2}, {16, 2}, {place.size, 8}, {place.packed, 8}});
  append(bytes, packed);
  return place;
}

inline void put_directory_entry(Bytes& bytes, const std::string& name, const ZipPlace& place, bool in64) {
  put_fields(bytes, {{0x02014b50, 4}, {45, 2}, {45, 2}, {0, 2}, {place.method, 2}, {0, 2}, {33, 2}, {place.crc, 4}});
  put_fields(bytes, {{in64 ? kIn64 : place.packed, 4}, {in64 ? kIn64 : place.size, 4}});
  put_fields(bytes, {{name.size(), 2}, {in64 ? 28u : 0u, 2}, {0, 2}, {0, 2}, {0, 2}, {0, 4}});
  put_little(bytes, in64 ? kIn64 : place.at, 4);
  append(bytes, Bytes(name.begin(), name.end()));
  if (in64) put_fields(bytes, {{1, 2}, {24, 2}, {place.size, 8}, {place.packed, 8}, {place.at, 8}});
}

inline Bytes zip(const std::vector<ZipFile>& files, const ZipStyle& style = {}) {
  const bool in64 = style.directory64;
  Bytes bytes, directory;
  for (const ZipFile& file : files) put_directory_entry(directory, file.name, put_zip_file(bytes, file), in64);
  const std::uint64_t count = files.size(), directory_at = bytes.size();
  append(bytes, directory);
  const std::uint64_t end_at = bytes.size();
  if (in64) {
    put_fields(bytes, {{0x06064b50, 4}, {44, 8}, {45, 2}, {45, 2}, {0, 4}, {0, 4}, {count, 8}, {count, 8}});
    put_fields(bytes, {{directory.size(), 8}, {directory_at, 8}});
    put_fields(bytes, {{0x07064b50, 4}, {0, 4}, {end_at, 8}, {1, 4}});
  }
  put_fields(bytes, {{0x06054b50, 4}, {0, 2}, {0, 2}, {in64 ? 0xffff : count, 2}, {in64 ? 0xffff : count, 2}});
  put_fields(bytes, {{in64 ? kIn64 : directory.size(), 4}, {in64 ? kIn64 : directory_at, 4}});
  put_little(bytes, style.comment.size(), 2);
  append(bytes, Bytes(style.comment.begin(), style.comment.end()));
  return bytes;
}

}  // namespace trireme::data
