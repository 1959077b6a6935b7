// Single arrays of NumPy, the zip archives they come in, and every way both can be wrong.
#include "data/readers/numpy/npy.h"

#include <cmath>
#include <limits>

#include "data/codecs/decompress.h"
#include "data/codecs/zip.h"
#include "data/readers/numpy/numpy_files.h"

namespace trireme::data {
namespace {

std::vector<float> values_of(const NumpyArray& array) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < array.shape.count(); ++i) values.push_back(array.value(static_cast<std::size_t>(i)));
  return values;
}

template <class T>
void expect_type(const std::string& name, const std::vector<T>& numbers, ValueType stored) {
  std::vector<float> expected;
  for (const T n : numbers) expected.push_back(static_cast<float>(n));
  const std::string shape = "(" + std::to_string(numbers.size()) + ",)";
  for (const std::string order : {"<", ">", "|", "="}) {
    if (order == "|" && sizeof(T) > 1) continue;
    const NumpyArray array = read_npy(npy(order + name, shape, raw(numbers, order == ">")), "an array");
    EXPECT_EQ(array.type, stored) << order << name;
    EXPECT_EQ(values_of(array), expected) << order << name;
    EXPECT_EQ(array.shape, tensor::Shape({static_cast<std::int64_t>(numbers.size())}));
  }
}

template <class T>
std::vector<T> extremes() {
  return {0, 1, 7, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
}

TEST(Npy, ReadsEveryType) {
  expect_type<std::uint8_t>("u1", extremes<std::uint8_t>(), ValueType::byte);
  expect_type<std::int8_t>("i1", extremes<std::int8_t>(), ValueType::real);
  expect_type<std::uint16_t>("u2", extremes<std::uint16_t>(), ValueType::real);
  expect_type<std::int16_t>("i2", extremes<std::int16_t>(), ValueType::real);
  expect_type<std::uint32_t>("u4", extremes<std::uint32_t>(), ValueType::real);
  expect_type<std::int32_t>("i4", extremes<std::int32_t>(), ValueType::real);
  expect_type<std::uint64_t>("u8", extremes<std::uint64_t>(), ValueType::real);
  expect_type<std::int64_t>("i8", extremes<std::int64_t>(), ValueType::real);
  expect_type<float>("f4", {0, -1.5f, 3e38f, 1e-40f}, ValueType::real);
  expect_type<double>("f8", {0, -1.5, 0.1, 1e-50}, ValueType::real);
  EXPECT_EQ(values_of(read_npy(npy("|b1", "(3,)", {0, 1, 2}), "flags")), (std::vector<float>{0, 1, 1}));
}

TEST(Npy, ReadsHalves) {
  const std::vector<std::uint16_t> halves = {0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x0400, 0x3555};
  const std::vector<float> expected = {0,
                                       -0.0f,
                                       1,
                                       -2,
                                       65504,
                                       std::ldexp(1.0f, -24),
                                       std::ldexp(1023.0f, -24),
                                       std::ldexp(1.0f, -14),
                                       std::ldexp(1365.0f, -12)};
  for (const bool big : {false, true})
    EXPECT_EQ(values_of(read_npy(npy(big ? ">f2" : "<f2", "(9,)", raw(halves, big)), "halves")), expected);
  const NumpyArray odd = read_npy(npy("<f2", "(3,)", raw<std::uint16_t>({0x7c00, 0xfc00, 0x7e00})), "odd");
  EXPECT_EQ(odd.reals[0], HUGE_VALF);
  EXPECT_EQ(odd.reals[1], -HUGE_VALF);
  EXPECT_TRUE(std::isnan(odd.reals[2]));
}

TEST(Npy, ReadsBothOrdersOfTheSizes) {
  // Value 100 i + 10 j + k of a 2x3x4 array, the first index running fastest.
  Bytes fortran, plain;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) fortran.push_back(static_cast<std::uint8_t>(100 * i + 10 * j + k));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) plain.push_back(static_cast<std::uint8_t>(100 * i + 10 * j + k));
  EXPECT_EQ(read_npy(npy("|u1", "(2, 3, 4)", fortran, true), "f").bytes, plain);
  EXPECT_EQ(read_npy(npy("|u1", "(2, 3, 4)", plain), "c").bytes, plain);
  Bytes wide;
  for (const std::uint8_t n : fortran) append(wide, raw<std::int32_t>({n}, true));
  EXPECT_EQ(values_of(read_npy(npy(">i4", "(2, 3, 4)", wide, true), "f")),
            std::vector<float>(plain.begin(), plain.end()));
}

TEST(Npy, ReordersDimensions) {
  NumpyArray array = read_npy(npy_bytes("(2, 3, 2)", 12), "a");
  reorder(array, std::vector<int>{0, 2, 1});
  EXPECT_EQ(array.shape, tensor::Shape({2, 2, 3}));
  EXPECT_EQ(array.bytes, (Bytes{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
}

TEST(Npy, ReadsEveryVersionAndSpelling) {
  for (const int version : {1, 2, 3})
    EXPECT_EQ(read_npy(npy_with_header(npy_header("|u1", "(2,)"), {5, 6}, version), "v").bytes, (Bytes{5, 6}));
  for (const char* text : {"{'shape': (2L, 1L), 'descr': '|u1', 'fortran_order': False}",
                           "{\"descr\":\"|u1\",\"fortran_order\":False,\"shape\":(2,1)}"})
    EXPECT_EQ(read_npy(npy_with_header(text, {5, 6}), "s").shape, tensor::Shape({2, 1}));
  EXPECT_EQ(read_npy(npy("|u1", "()", {7}), "scalar").shape, tensor::Shape{});
}

TEST(Npy, ReadsManyPieces) {
  const std::size_t count = 300'007;
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<double>(i) / 4;
  const NumpyArray array = read_npy(npy(">f8", "(300007,)", raw(numbers, true)), "long");
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(array.reals[i], static_cast<float>(numbers[i]));
}

TEST(Npy, RefusesWhatIsNoNumber) {
  expect_user_error([] { read_npy(npy("|O", "(2,)", {1, 2}), "my array"); }, {"my array", "pickled", "not read"});
  for (const char* type : {"<U3", "|S4", "<c8", "<f16", "<u3", "<i0", "|u2", "<b2", "<M8[s]", "u1", "", "<f", "<f44"})
    expect_user_error([&] { read_npy(npy(type, "(2,)", {1, 2}), "my array"); }, {"my array", "type"});
  const char* records = "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,), }";
  expect_user_error([&] { read_npy(npy_with_header(records, Bytes(8)), "my array"); }, {"my array", "several fields"});
}

TEST(Npy, HeadersAreReadStrictly) {
  const auto refused = [](const std::string& text, const std::string& why) {
    expect_user_error([&] { read_npy(npy_with_header(text, {1, 2}), "my array"); }, {"my array", why});
  };
  refused("", "'{'");
  refused("{}", "lacks");
  refused("{'descr': '|u1', 'shape': (2,), }", "lacks");
  refused("{'descr': '|u1', 'fortran_order': False, }", "lacks");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), 'more': 1, }", "a key");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}", "'shape' twice");
  refused("{'descr': '|u1', 'fortran_order': 0, 'shape': (2,), }", "True nor False");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), } x", "closing brace");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)", "'}'");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (2,", "whole number");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': (-2,), }", "whole number");
  refused("{'descr': '|u1', 'fortran_order': False, 'shape': 2, }", "'('");
  refused("{'descr': '|u1, ", "quote");
  refused("{descr: '|u1'}", "in quotes");
  refused(npy_header("|u1", "(2, 0)"), "empty");
  refused(npy_header("|u1", "(1, 1, 1, 1, 1, 1, 1, 1, 2)"), "dimensions");
  refused(npy_header("|u1", "(99999999999999999999999,)"), "promises more");
  refused(npy_header("|u1", "(1000000000000, 1000000000000)"), "promises more");
  expect_user_error([] { read_npy(npy_with_header(npy_header("|u1", "(2,)"), {1, 2}, 4), "new"); }, {"new", "4.0"});
  expect_user_error([] { read_npy(Bytes{'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0}, "zip"); }, {"zip", "no NumPy array"});
  Bytes endless = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0xff, 0xff, 0xff, 0xff};
  expect_user_error([&] { read_npy(endless, "endless"); }, {"endless", "4294967295"});
}

TEST(Npy, TooFewAndTooManyValuesAreNamed) {
  expect_user_error([] { read_npy(npy("<f4", "(2, 2)", Bytes(15)), "short"); }, {"short", "16 bytes", "15"});
  expect_user_error([] { read_npy(npy("<f4", "(2, 2)", Bytes(17)), "long"); }, {"long", "longer", "2x2"});
}

TEST(Npy, AFalsePromiseCostsNoMemory) {
  const Bytes huge = npy("<f8", "(1000000, 1000000)", Bytes(100));
  expect_user_error([&] { read_npy(huge, "huge"); }, {"huge", "cut short"});
  const Bytes packed = pack_gz(huge);  // of unknown length: memory grows with what arrives
  UnpackedReader reader(builtin_codecs(), packed, "huge.npy.gz");
  expect_user_error(
      [&] {
        read_npy(
            {.where = "huge.npy.gz", .read = [&](std::uint8_t* dst, std::size_t n) { return reader.read(dst, n); }});
      },
      {"huge.npy.gz", "cut short"});
}

// Every length, and every byte changed: an error or an array, never a crash.
TEST(Npy, DamageAnywhereIsSurvived) {
  const auto survives = [](const Bytes& bytes) {
    try {
      read_npy(bytes, "damaged");
    } catch (const base::Error& error) {
      EXPECT_EQ(error.exit_code(), 2) << error.what();
    }
  };
  for (const int version : {1, 2}) {
    const Bytes whole = npy_with_header(npy_header(">i2", "(3, 2)", true), Bytes(12), version);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
      expect_user_error([&] { read_npy(cut, "cut"); }, {"cut"});
      for (int value = 0; value < 256; ++value) {
        Bytes damaged = whole;
        damaged[i] = static_cast<std::uint8_t>(value);
        survives(damaged);
      }
    }
  }
}

Bytes read_entry(ZipArchive& archive, std::size_t index, std::size_t piece) {
  const ZipEntry& entry = archive.entries()[index];
  ZipEntryReader reader(archive, entry);
  Bytes content, buffer(piece);
  while (const std::size_t got = reader.read(buffer.data(), piece))
    content.insert(content.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
  return content;
}

Bytes some_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * i / 7);
  return bytes;
}

TEST(Zip, GivesBackEveryKindOfEntry) {
  const TempFolder folder;
  const std::vector<ZipFile> files = {
      {"a", some_bytes(200'000)}, {"b", some_bytes(200'000), true}, {"c", {}, false}, {"d", {}, true}};
  for (const ZipStyle& style : {ZipStyle{}, ZipStyle{true, ""}, ZipStyle{false, "a comment"}}) {
    const Bytes bytes = zip(files, style);
    write_bytes(folder.path() / "file.zip", bytes);
    ZipArchive in_memory(bytes, "memory"), in_file(folder.path() / "file.zip");
    for (ZipArchive* archive : {&in_memory, &in_file}) {
      ASSERT_EQ(archive->entries().size(), files.size());
      for (std::size_t i = 0; i < files.size(); ++i)
        for (const std::size_t piece : {std::size_t{999}, std::size_t{1'000'000}}) {
          EXPECT_EQ(archive->entries()[i].name, files[i].name);
          EXPECT_EQ(read_entry(*archive, i, piece), files[i].content);
        }
    }
  }
}

TEST(Zip, DamagedContentIsNamed) {
  for (const bool deflated : {false, true}) {
    Bytes bytes = zip({{"entry", some_bytes(1000), deflated}});
    bytes[200] ^= 0x10;
    ZipArchive archive(bytes, "file.zip");
    expect_user_error([&] { read_entry(archive, 0, 100); }, {"file.zip", "'entry'", "damaged"});
  }
}

TEST(Zip, AHeaderWithAnotherNameIsDamage) {
  Bytes bytes = zip({{"entry", some_bytes(100)}});
  bytes[30] = 'E';  // the name's first letter, after the local header
  ZipArchive archive(bytes, "file.zip");
  expect_user_error([&] { read_entry(archive, 0, 100); }, {"file.zip", "'entry'", "different names"});
}

TEST(Zip, WhatIsNotReadIsNamed) {
  const auto refused = [](const Bytes& bytes, const std::vector<std::string>& parts) {
    expect_user_error([&] { ZipArchive archive(bytes, "file.zip"); }, parts);
  };
  refused({}, {"file.zip", "no zip archive"});
  refused(some_bytes(100'000), {"file.zip", "no zip archive"});
  refused(zip({{"same", {1}}, {"same", {2}}}), {"'same'", "twice"});
  const Bytes whole = zip({{"entry", some_bytes(100)}});
  const std::size_t directory = whole.size() - 22 - 46 - 5;
  const auto changed = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = whole;
    bytes[at] = value;
    return bytes;
  };
  refused(changed(directory + 8, 1), {"'entry'", "encrypted"});
  refused(changed(directory + 10, 12), {"'entry'", "NumPy does not use"});
  refused(changed(directory + 20, 99), {"'entry'", "another size"});
  refused(changed(directory + 44, 9), {"'entry'", "beyond the archive's end"});
  refused(changed(whole.size() - 22 + 10, 2), {"entry 2 of 2", "missing"});
  refused(changed(whole.size() - 22 + 19, 1), {"directory", "beyond the end"});
  refused(changed(directory + 29, 9), {"entry 1 of 1", "cut off"});
}

TEST(Zip, APromiseBeyondWhatDeflateCanHoldIsRefused) {
  Bytes bytes = zip({{"bomb", Bytes(100'000), true}});
  const std::size_t directory = bytes.size() - 22 - 46 - 4;
  bytes[directory + 27] = 0x70;  // now nearly 2 GB
  expect_user_error([&] { ZipArchive archive(bytes, "file.zip"); }, {"'bomb'", "promises more"});
}

}  // namespace
}  // namespace trireme::data
