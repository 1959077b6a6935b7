// Packed files: what goes in comes out; every damage is named; a file that shrinks under a reader ends it in order.

#include "data/readers/packed.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "base/system/files.h"
#include "data/codecs/mapped_file.h"
#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "data/open_data.h"
#include "data/readers/packed_format.h"
#include "data/readers/synthetic.h"
#include "data/stages/normalize.h"

namespace trireme::data {
namespace {

DatasetPtr images(std::int64_t samples, int first) {
  DataSpec spec;
  spec.inputs = {{3, 5, 4}};
  spec.classes = 3;
  spec.class_names = {"ant", "bee \"1\"", "cat"};
  Bytes pixels, labels;
  for (std::int64_t i = 0; i < samples * 60; ++i) pixels.push_back(static_cast<std::uint8_t>(first + i * i / 3));
  for (std::int64_t i = 0; i < samples; ++i) labels.push_back(static_cast<std::uint8_t>(i % 3));
  return image_source(spec, pixels, labels);
}

void expect_equal(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(spec_text(a.spec()), spec_text(b.spec()));
  EXPECT_EQ(a.spec().class_names, b.spec().class_names);
  ASSERT_EQ(a.size(), b.size());
  for (std::int64_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(fetch_sample(a, i).inputs, fetch_sample(b, i).inputs);
    EXPECT_EQ(fetch_sample(a, i).target, fetch_sample(b, i).target);
  }
}

class Packed : public ::testing::Test {
 protected:
  fs::path path(const std::string& name = "a") const { return folder_.path() / (name + kPackedEnding); }
  fs::path packed_images() const {
    write_packed(path(), {images(7, 1), images(2, 9)});
    return path();
  }
  Bytes content() const {
    Bytes bytes;
    for (const std::byte b : base::read_file(path())) bytes.push_back(std::to_integer<std::uint8_t>(b));
    return bytes;
  }
  TempFolder folder_;
};

TEST_F(Packed, GivesBackWhatWasPacked) {
  const DataPair pair{images(7, 1), images(2, 9)};
  write_packed(path(), pair);
  verify_packed(path());
  DataRequest request;
  request.name = path().string();
  const DataPair opened = open_dataset(request);
  expect_equal(*opened.train, *pair.train);
  expect_equal(*opened.test, *pair.test);
  for (const char* kind : {"standard", "mean", "scale"}) {
    const Normalization known = compute_normalization(opened.train, kind),
                        computed = compute_normalization(pair.train, kind);
    ASSERT_EQ(known.inputs.size(), 1u);
    EXPECT_EQ(known.inputs[0].mean, computed.inputs[0].mean);
    EXPECT_EQ(known.inputs[0].divisor, computed.inputs[0].divisor);
  }
  ASSERT_NE(opened.train->columns(), nullptr);
  EXPECT_EQ(opened.train->columns()->normalizations.size(), 3u);
  EXPECT_EQ(opened.train->columns()->inputs[0].type, ValueType::byte);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(opened.train->columns()->inputs[0].data) % 4096, 0u);
}

TEST_F(Packed, HoldsWhateverADatasetMakes) {
  for (const TargetKind kind : {TargetKind::classes, TargetKind::labels, TargetKind::values}) {
    DataSpec spec;
    spec.inputs = {{1, 70}, {2, 3, 3}};
    spec.target = kind;
    spec.classes = 5;
    const DataPair pair{make_synthetic(spec, 11, 3, false), make_synthetic(spec, 1, 3, true)};
    const fs::path file = path(std::to_string(static_cast<int>(kind)));
    write_packed(file, pair);
    verify_packed(file);
    const DataPair opened = open_packed(file);
    expect_equal(*opened.train, *pair.train);
    expect_equal(*opened.test, *pair.test);
  }
}

TEST_F(Packed, NothingIsWrittenOver) {
  packed_images();
  expect_user_error([&] { packed_images(); }, {"exists already", "a.trireme"});
  write_bytes(path("b").string() + ".partial", {1});
  expect_user_error([&] { write_packed(path("b"), {images(1, 0), images(1, 0)}); }, {"b.trireme.partial"});
  EXPECT_EQ(fs::file_size(path("b").string() + ".partial"), 1u);
  expect_user_error([&] { write_packed(folder_.path() / "no" / "c", {images(1, 0), images(1, 0)}); }, {"no/c"});
}

TEST_F(Packed, EveryDamageOfTheHeaderIsNoticed) {
  packed_images();
  const Bytes whole = content();
  std::size_t header = 24;
  for (std::size_t k = 0; k < 8; ++k) header += static_cast<std::size_t>(whole[8 + k]) << (8 * k);
  for (std::size_t at = 0; at < header; ++at) {
    Bytes changed = whole;
    changed[at] ^= 0x10;
    const fs::path file = path("changed");
    fs::remove(file);
    write_bytes(file, changed);
    expect_user_error([&] { open_packed(file); }, {"changed.trireme"});
  }
  for (std::size_t length = 0; length < whole.size(); length += length < header ? 7 : 97) {
    const fs::path file = path("short");
    fs::remove(file);
    write_bytes(file, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    expect_user_error([&] { open_packed(file); }, {"short.trireme"});
  }
}

// A header whose checksum is right, but not what it says.
TEST_F(Packed, ImpossibleHeadersAreRefused) {
  packed_images();
  const Bytes whole = content();
  std::size_t length = 0;
  for (std::size_t k = 0; k < 8; ++k) length += static_cast<std::size_t>(whole[8 + k]) << (8 * k);
  const auto opened_with = [&](const std::function<void(nlohmann::json&)>& change) {
    const auto* text = reinterpret_cast<const char*>(whole.data() + packed::kFrontBytes);
    nlohmann::json header = nlohmann::json::parse(text, text + length);
    change(header);
    const std::string now = header.dump();
    ASSERT_LT(packed::kFrontBytes + now.size(), packed::kPage);
    Bytes bytes = whole;
    const auto put = [&](std::size_t at, std::uint64_t number) {
      for (std::size_t k = 0; k < 8; ++k) bytes[at + k] = static_cast<std::uint8_t>(number >> (8 * k));
    };
    put(8, now.size());
    put(16, base::xxh3(std::as_bytes(std::span(now))));
    std::ranges::copy(now, bytes.begin() + packed::kFrontBytes);
    write_bytes(path(), bytes);
    open_packed(path());
  };
  opened_with([](nlohmann::json&) {});
  for (const std::int64_t classes : {kMostClasses + 1, std::int64_t{1} << 62})
    expect_user_error([&] { opened_with([&](nlohmann::json& json) { json["classes"] = classes; }); },
                      {path().string(), std::to_string(classes), "classes"});
  const nlohmann::json input{{"mean", {0, 0, 0}}, {"divisor", {1, 1, 1}}};
  const nlohmann::json of_three{{"kind", "standard"}, {"inputs", {input, input, input}}};
  expect_user_error(
      [&] { opened_with([&](nlohmann::json& json) { json["splits"]["train"]["normalizations"] = {of_three}; }); },
      {path().string(), "normalization of 3 inputs"});
}

TEST_F(Packed, ChecksumsNameTheDamagedPart) {
  packed_images();
  Bytes bytes = content();
  bytes.back() ^= 1;  // the last label of the test set: 1 becomes 0, a label all the same
  write_bytes(path(), bytes);
  open_packed(path());
  expect_user_error([&] { verify_packed(path()); }, {"test set's targets"});
}

TEST_F(Packed, OtherFilesAreRefused) {
  write_bytes(path(), Bytes(5000, 7));
  expect_user_error([&] { open_packed(path()); }, {"no packed dataset", "TRIREME1"});
  write_bytes(path(), {});
  expect_user_error([&] { open_packed(path()); }, {"empty"});
  expect_user_error([&] { open_packed(folder_.path()); }, {"regular file"});
  expect_user_error([&] { open_packed(path("missing")); }, {"missing.trireme"});
}

using MappedFileDeathTest = Packed;

TEST_F(MappedFileDeathTest, AFileThatShrinksEndsTheProcessInOrder) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  packed_images();
  const DataPair opened = open_packed(path());
  EXPECT_EXIT(
      {
        fs::resize_file(path(), 4096);
        fetch_sample(*opened.train, 6);
      },
      ::testing::ExitedWithCode(1), "a.trireme became shorter while it was read");
}

}  // namespace
}  // namespace trireme::data
