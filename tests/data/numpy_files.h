// .npy and .npz files as bytes, made here so that the tests need no Python.
#pragma once

#include <bit>
#include <cstring>

#include "helpers.h"

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

// Local headers have ZIP64 sizes, as np.savez writes them.
inline Bytes zip(const std::vector<ZipFile>& files, const ZipStyle& style = {}) {
  Bytes bytes, directory;
  const std::uint64_t in64 = 0xffffffff;
  for (const ZipFile& file : files) {
    const Bytes packed = file.deflated ? deflated(file.content) : file.content;
    const std::uint64_t at = bytes.size(), method = file.deflated ? 8 : 0;
    const std::uint64_t crc = crc32(0, file.content.data(), static_cast<uInt>(file.content.size()));
    const Bytes name(file.name.begin(), file.name.end());
    put_little(bytes, 0x04034b50, 4);
    for (const std::uint64_t n : {std::uint64_t{45}, std::uint64_t{0}, method, std::uint64_t{0}, std::uint64_t{33}})
      put_little(bytes, n, 2);
    for (const std::uint64_t n : {crc, in64, in64}) put_little(bytes, n, 4);
    put_little(bytes, name.size(), 2);
    put_little(bytes, 20, 2);
    append(bytes, name);
    put_little(bytes, 1, 2);
    put_little(bytes, 16, 2);
    put_little(bytes, file.content.size(), 8);
    put_little(bytes, packed.size(), 8);
    append(bytes, packed);

    put_little(directory, 0x02014b50, 4);
    for (const std::uint64_t n :
         {std::uint64_t{45}, std::uint64_t{45}, std::uint64_t{0}, method, std::uint64_t{0}, std::uint64_t{33}})
      put_little(directory, n, 2);
    for (const std::uint64_t n :
         {crc, style.directory64 ? in64 : packed.size(), style.directory64 ? in64 : file.content.size()})
      put_little(directory, n, 4);
    put_little(directory, name.size(), 2);
    put_little(directory, style.directory64 ? 28 : 0, 2);
    put_little(directory, 0, 8);  // comment, disk, attributes inside
    put_little(directory, 0, 2);  // attributes outside: 4 bytes in all
    put_little(directory, style.directory64 ? in64 : at, 4);
    append(directory, name);
    if (!style.directory64) continue;
    put_little(directory, 1, 2);
    put_little(directory, 24, 2);
    for (const std::uint64_t n : {std::uint64_t{file.content.size()}, std::uint64_t{packed.size()}, at})
      put_little(directory, n, 8);
  }
  const std::uint64_t directory_at = bytes.size();
  append(bytes, directory);
  const std::uint64_t end64_at = bytes.size();
  if (style.directory64) {
    put_little(bytes, 0x06064b50, 4);
    put_little(bytes, 44, 8);
    put_little(bytes, 45, 2);
    put_little(bytes, 45, 2);
    put_little(bytes, 0, 8);
    for (const std::uint64_t n :
         {std::uint64_t{files.size()}, std::uint64_t{files.size()}, std::uint64_t{directory.size()}, directory_at})
      put_little(bytes, n, 8);
    put_little(bytes, 0x07064b50, 4);
    put_little(bytes, 0, 4);
    put_little(bytes, end64_at, 8);
    put_little(bytes, 1, 4);
  }
  put_little(bytes, 0x06054b50, 4);
  put_little(bytes, 0, 4);
  put_little(bytes, style.directory64 ? 0xffff : files.size(), 2);
  put_little(bytes, style.directory64 ? 0xffff : files.size(), 2);
  put_little(bytes, style.directory64 ? in64 : directory.size(), 4);
  put_little(bytes, style.directory64 ? in64 : directory_at, 4);
  put_little(bytes, style.comment.size(), 2);
  bytes.insert(bytes.end(), style.comment.begin(), style.comment.end());
  return bytes;
}

}  // namespace trireme::data
