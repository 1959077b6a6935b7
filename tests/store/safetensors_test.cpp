// The format byte by byte, and everything that can be wrong with a file.
#include "store/safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/hash.h"
#include "support/temporary_folder.h"

namespace trireme::store {
namespace {

using test::TemporaryFolder;

std::vector<std::byte> file_of(std::string_view header, std::size_t data_bytes, std::uint64_t length) {
  std::vector<std::byte> bytes(8 + header.size() + data_bytes);
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  for (std::size_t i = 0; i < data_bytes; ++i) bytes[8 + header.size() + i] = static_cast<std::byte>(i);
  return bytes;
}
std::vector<std::byte> file_of(std::string_view header, std::size_t data_bytes) {
  return file_of(header, data_bytes, header.size());
}

// The sentence of the user error that parsing ends with, or empty when it succeeds.
std::string sentence_of(std::span<const std::byte> bytes) {
  try {
    (void)parse_safetensors(bytes, "some.safetensors");
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::user) << error.what();
    EXPECT_NE(std::string(error.what()).find("some.safetensors"), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

std::vector<NamedTensor> some_tensors() {
  return {{"fc.weight", {2, 3}, {1, -2, 3.5f, 0, -0.0f, 1e-38f}},
          {"scalar", {}, {7}},
          {"empty", {0, 5}, {}},
          {"na\u00efve \"quoted\"\n", {1}, {std::numeric_limits<float>::infinity()}}};
}

TEST(Safetensors, RoundTripKeepsEveryBit) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.safetensors";
  auto tensors = some_tensors();
  tensors[1].values[0] = std::bit_cast<float>(0x7fc12345u);  // a NaN with a payload
  const std::string digest = write_safetensors(path, tensors, {{"who", "we"}, {"why", ""}});
  EXPECT_EQ(digest, base::sha256_hex(base::read_file(path)));
  const SafetensorsFile file = read_safetensors(path);
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"who", "we"}, {"why", ""}}));
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const NamedTensor& tensor : tensors) {
    const NamedTensor* found = file.find(tensor.name);
    ASSERT_NE(found, nullptr) << tensor.name;
    EXPECT_EQ(found->shape, tensor.shape);
    ASSERT_EQ(found->values.size(), tensor.values.size());
    const auto bits = [](const NamedTensor& of, std::size_t i) { return std::bit_cast<std::uint32_t>(of.values[i]); };
    for (std::size_t i = 0; i < tensor.values.size(); ++i) EXPECT_EQ(bits(*found, i), bits(tensor, i)) << tensor.name;
  }
  EXPECT_EQ(file.find("other"), nullptr);
  EXPECT_FALSE(base::fs::exists(path.string() + ".partial"));
}

TEST(Safetensors, BytesAreThoseOfTheFormat) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.safetensors";
  write_safetensors(path, std::vector<NamedTensor>{{"w", {2}, {1, 2}}});
  const std::string text = base::read_text(path);
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  std::string expected{static_cast<char>(padded), 0, 0, 0, 0, 0, 0, 0};
  expected += header + std::string(padded - header.size(), ' ');
  expected += std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  EXPECT_EQ(text, expected);
  EXPECT_EQ((8 + padded) % 8, 0u) << "data starts on 8 bytes";
}

TEST(Safetensors, NoTensorsAtAll) {
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "none", {});
  EXPECT_TRUE(read_safetensors(folder.path() / "none").tensors.empty());
}

TEST(Safetensors, ReadsIntegersAsFloats) {
  std::vector<std::byte> bytes = file_of(
      R"({"u":{"dtype":"U8","shape":[3],"data_offsets":[16,19]},"i":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}})",
      19);
  const std::int64_t values[2] = {-5, 1 << 20};
  std::memcpy(bytes.data() + bytes.size() - 19, values, 16);
  const SafetensorsFile file = parse_safetensors(bytes, "x");
  EXPECT_EQ(file.find("i")->values, (std::vector<float>{-5, 1048576}));
  EXPECT_EQ(file.find("u")->values, (std::vector<float>{16, 17, 18}));
  EXPECT_EQ(file.tensors[0].name, "i") << "in the order of their data";
}

TEST(Safetensors, EveryFaultHasItsSentence) {
  struct Fault {
    const char* header;
    std::size_t data;
    const char* says;
  };
  const Fault faults[] = {
      {"", 0, "not valid JSON"},
      {"[]", 0, "not a JSON object"},
      {"{", 0, "not valid JSON"},
      {"{} x", 0, "not valid JSON"},
      {R"({"w":1})", 0, "no description"},
      {R"({"w":{}})", 0, "no dtype"},
      {R"({"w":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4, "no dtype"},
      {R"({"w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", 4, "BF16"},
      {R"({"w":{"dtype":"F32","data_offsets":[0,4]}})", 4, "no shape"},
      {R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "list of sizes"},
      {R"({"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "list of sizes"},
      {R"({"w":{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}})", 4, "list of sizes"},
      {R"({"w":{"dtype":"F32","shape":[1]}})", 4, "no data_offsets"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 8, "3 data_offsets"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "bytes 4 to 0"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "bytes 0 to 8 of 4"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "shape 2"},
      {R"({"w":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}})", 0, "shape"},
      {R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0, "shape"},
      {R"({"w":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,4]}})", 4, "list of sizes"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,99999999999999999999]}})", 4, "list of sizes"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8, "end at byte 4 of 8"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "gap"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
       5, "no multiple of 4"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
       12, "overlaps"},
      {R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       4, "two tensors are called 'w'"},
      {R"({"__metadata__":7})", 0, "metadata"},
      {R"({"__metadata__":{"a":7}})", 0, "metadata 'a'"},
      {R"({"w":{"dtype":"F32","shape":[[[[1]]]],"data_offsets":[0,4]}})", 4, "nested too deeply"},
  };
  for (const Fault& fault : faults) {
    const std::string sentence = sentence_of(file_of(fault.header, fault.data));
    EXPECT_NE(sentence.find(fault.says), std::string::npos) << fault.header << " gave: " << sentence;
  }
}

TEST(Safetensors, HeaderLengthIsChecked) {
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{1} << 40, huge, huge - 7})
    EXPECT_FALSE(sentence_of(file_of("{}", 0, length)).empty()) << length;
  EXPECT_TRUE(sentence_of(file_of("{}", 0)).empty());
  EXPECT_FALSE(sentence_of(file_of(std::string(1 << 20, '['), 0)).empty()) << "deep nesting must not use up the stack";
}

TEST(Safetensors, TruncatedAnywhereIsAUserError) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.safetensors";
  write_safetensors(path, some_tensors(), {{"a", "b"}});
  const std::vector<std::byte> whole = base::read_file(path);
  EXPECT_EQ(sentence_of(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(sentence_of(part), "") << size;
  }
}

TEST(Safetensors, RandomDamageReadsOrThrows) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.safetensors";
  write_safetensors(path, some_tensors(), {{"a", "b"}});
  const std::vector<std::byte> whole = base::read_file(path);
  std::uint64_t random = 88172645463325252u;
  const auto next = [&](std::size_t below) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    return static_cast<std::size_t>(random % below);
  };
  int refused = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<std::byte> bytes = whole;
    for (std::size_t flips = 1 + next(4); flips > 0; --flips)
      bytes[next(bytes.size())] = static_cast<std::byte>(next(256));
    if (next(4) == 0) bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(next(bytes.size())), std::byte{'9'});
    if (!sentence_of(bytes).empty()) ++refused;
  }
  EXPECT_GT(refused, 10000) << "most of the bytes are header";
  EXPECT_LT(refused, 20000) << "damage to values alone cannot be seen here";
}

TEST(Safetensors, WritingCheckedForMistakes) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a";
  EXPECT_THROW(write_safetensors(path, std::vector<NamedTensor>{{"w", {2}, {1}}}), base::Error);
  EXPECT_THROW(write_safetensors(path, std::vector<NamedTensor>{{"w", {1}, {1}}, {"w", {1}, {1}}}), base::Error);
  EXPECT_THROW(write_safetensors(path, std::vector<NamedTensor>{{"__metadata__", {1}, {1}}}), base::Error);
  EXPECT_TRUE(base::fs::is_empty(folder.path()));
}

TEST(Safetensors, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a.safetensors";
  write_safetensors(path, some_tensors());
  const std::string before = base::read_text(path);
  base::fs::create_symlink("/dev/full", path.string() + ".partial");  // every write to it says: no space left
  try {
    write_safetensors(path, some_tensors());
    ADD_FAILURE() << "a full disk went unnoticed";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::run);
    EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
  }
  EXPECT_EQ(base::read_text(path), before);
  EXPECT_FALSE(base::fs::is_symlink(path.string() + ".partial"));
  EXPECT_THROW(write_safetensors(folder.path() / "no" / "such" / "folder", some_tensors()), base::Error);
}

TEST(Safetensors, WhatIsNotAFile) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)read_safetensors(folder.path()), base::Error);
  EXPECT_THROW((void)read_safetensors(folder.path() / "absent"), base::Error);
  EXPECT_THROW((void)read_safetensors("/dev/zero"), base::Error);
}

}  // namespace
}  // namespace trireme::store
