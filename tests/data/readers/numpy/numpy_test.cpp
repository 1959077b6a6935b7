// Datasets of NumPy arrays: names, shapes, targets, and what is refused.
#include "data/readers/numpy/numpy.h"

#include <cmath>
#include <limits>

#include "data/dataset/columns.h"
#include "data/open_data.h"
#include "data/readers/numpy/numpy_files.h"
#include "data/readers/numpy/numpy_names.h"

namespace trireme::data {
namespace {

using Arrays = std::vector<std::pair<std::string, Bytes>>;
using Shapes = std::vector<tensor::Shape>;

Bytes npz(const Arrays& arrays) {
  std::vector<ZipFile> files;
  for (const auto& [name, content] : arrays) files.push_back({name + ".npy", content, files.size() % 2 == 1});
  return zip(files);
}

DataPair read(const Arrays& arrays, const DataRequest& request = {}) {
  return read_npz(npz(arrays), "file.npz", request);
}

void refused(const Arrays& arrays, const std::vector<std::string>& parts, const DataRequest& request = {}) {
  std::vector<std::string> all = parts;
  all.emplace_back("file.npz");
  expect_user_error([&] { read(arrays, request); }, all);
}

DataRequest wanting(Shapes inputs, TargetKind target = TargetKind::classes, std::int64_t classes = 0) {
  DataRequest request;
  request.wanted_inputs = std::move(inputs);
  request.wanted_target = target;
  request.wanted_classes = classes;
  return request;
}

tensor::Shape shape_read(const std::string& shape, std::size_t count, const DataRequest& request = {}) {
  const DataPair pair = read({{"x_train", npy_bytes(shape, count)},
                              {"y_train", npy_labels({0, 1})},
                              {"x_test", npy_bytes(shape, count)},
                              {"y_test", npy_labels({0, 1})}},
                             request);
  return pair.train->spec().inputs.at(0);
}

TEST(NumpyNames, TellWhatAnArrayIsFor) {
  struct Case {
    const char* name;
    ArrayPart part;
    bool target;
    int number;
  };
  for (const Case& c : {Case{"x_train", ArrayPart::train, false, 0}, Case{"X_test", ArrayPart::test, false, 0},
                        Case{"train_x", ArrayPart::train, false, 0}, Case{"y_test", ArrayPart::test, true, 0},
                        Case{"x", ArrayPart::all, false, 0}, Case{"Y", ArrayPart::all, true, 0},
                        Case{"inputs", ArrayPart::all, false, 0}, Case{"targets", ArrayPart::all, true, 0},
                        Case{"train_images", ArrayPart::train, false, 0}, Case{"labels-test", ArrayPart::test, true, 0},
                        Case{"data", ArrayPart::all, false, 0}, Case{"x2", ArrayPart::all, false, 2},
                        Case{"x10_train", ArrayPart::train, false, 10}, Case{"x_test_3", ArrayPart::test, false, 3}}) {
    const auto role = array_role(c.name);
    ASSERT_TRUE(role) << c.name;
    EXPECT_EQ(role->part, c.part) << c.name;
    EXPECT_EQ(role->is_target, c.target) << c.name;
    EXPECT_EQ(role->number, c.number) << c.name;
  }
  for (const char* name : {"", "_", "train", "x_train_test", "arr_0", "z", "xy", "x_123456789012", "x_valid"})
    EXPECT_FALSE(array_role(name)) << name;
}

TEST(Numpy, ReadsTrainingAndTestArrays) {
  const DataPair pair = read({{"x_train", npy_bytes("(3, 2, 2)", 12)},
                              {"y_train", npy_labels({2, 0, 1})},
                              {"x_test", npy_bytes("(1, 2, 2)", 4, 100)},
                              {"y_test", npy_labels({4})}});
  EXPECT_EQ(pair.train->spec().inputs, (Shapes{{1, 2, 2}}));
  EXPECT_EQ(pair.train->spec().classes, 5);  // over both parts
  EXPECT_EQ(pair.test->spec().classes, 5);
  EXPECT_EQ(pair.train->columns()->inputs[0].type, ValueType::byte);
  EXPECT_EQ(fetch_sample(*pair.train, 1).inputs[0], (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(fetch_sample(*pair.train, 0).target, std::vector<float>{2});
  EXPECT_EQ(fetch_sample(*pair.test, 0).inputs[0], (std::vector<float>{100, 101, 102, 103}));
  EXPECT_TRUE(pair.notes.empty());
}

TEST(Numpy, WithoutATestPartAShareServes) {
  const DataPair pair = read({{"images", npy_bytes("(10, 3)", 30)}, {"labels", npy("|u1", "(10, 1)", Bytes(10, 1))}});
  EXPECT_EQ(pair.train->size() + pair.test->size(), 10);
  EXPECT_EQ(pair.train->spec().inputs, (Shapes{{1, 3}}));
  ASSERT_EQ(pair.notes.size(), 1u);
  EXPECT_NE(pair.notes[0].find("no test set"), std::string::npos);
}

TEST(Numpy, SeveralInputsComeInNaturalOrder) {
  const Bytes labels = npy_labels({0, 1, 0, 1, 0});
  const DataPair pair = read({{"x10", npy_bytes("(5, 2)", 10)},
                              {"x2", npy_bytes("(5, 3)", 15)},
                              {"x1", npy_bytes("(5, 4, 4)", 80)},
                              {"y", labels}});
  EXPECT_EQ(pair.train->spec().inputs, (Shapes{{1, 4, 4}, {1, 3}, {1, 2}}));
  const DataPair named = read({{"x_train_2", npy_bytes("(5, 2)", 10)},
                               {"x_train_1", npy_bytes("(5, 3)", 15)},
                               {"y_train", labels},
                               {"x2_test", npy_bytes("(5, 2)", 10)},
                               {"x1_test", npy_bytes("(5, 3)", 15)},
                               {"y_test", labels}});
  EXPECT_EQ(named.test->spec().inputs, (Shapes{{1, 3}, {1, 2}}));
  EXPECT_EQ(fetch_sample(*named.train, 1).inputs[1], (std::vector<float>{2, 3}));
}

TEST(Numpy, SamplesGetTheShapeANetworkTakes) {
  EXPECT_EQ(shape_read("(2, 12)", 24), tensor::Shape({1, 12}));
  EXPECT_EQ(shape_read("(2, 12)", 24, wanting({{3, 2, 2}})), tensor::Shape({3, 2, 2}));
  EXPECT_EQ(shape_read("(2, 12)", 24, wanting({{3, 4, 4}})), tensor::Shape({1, 12}));
  EXPECT_EQ(shape_read("(2, 3, 4)", 24), tensor::Shape({1, 3, 4}));
  EXPECT_EQ(shape_read("(2, 3, 4)", 24, wanting({{3, 4}})), tensor::Shape({3, 4}));
  EXPECT_EQ(shape_read("(2, 3, 4)", 24, wanting({{1, 1800}})), tensor::Shape({3, 4}));
  EXPECT_EQ(shape_read("(2, 3, 4)", 24, wanting({{12}})), tensor::Shape({12}));
  EXPECT_EQ(shape_read("(2, 3, 4, 5)", 120), tensor::Shape({3, 4, 5}));
  EXPECT_EQ(shape_read("(2, 3, 4, 4)", 96), tensor::Shape({3, 4, 4}));
  EXPECT_EQ(shape_read("(2, 5, 6, 3)", 180), tensor::Shape({3, 5, 6}));
  EXPECT_EQ(shape_read("(2, 5, 6, 1)", 60), tensor::Shape({1, 5, 6}));
  EXPECT_EQ(shape_read("(2, 5, 6, 2)", 120), tensor::Shape({5, 6, 2}));
  EXPECT_EQ(shape_read("(2, 5, 6, 2)", 120, wanting({{2, 5, 6}})), tensor::Shape({2, 5, 6}));
  EXPECT_EQ(shape_read("(2, 5, 6, 3)", 180, wanting({{5, 6, 3}})), tensor::Shape({5, 6, 3}));
  EXPECT_EQ(shape_read("(2, 5, 6, 3)", 180, wanting({{3, 6, 5}})), tensor::Shape({3, 5, 6}));
  EXPECT_EQ(shape_read("(2, 6, 6)", 72, wanting({{4, 3, 3}})), tensor::Shape({1, 6, 6}));
  EXPECT_EQ(shape_read("(2, 1, 2, 3, 4)", 48, wanting({{2, 3, 4}})), tensor::Shape({2, 3, 4}));
}

TEST(Numpy, ChannelsMoveToTheFrontWithANote) {
  const DataPair pair = read({{"x_train", npy_bytes("(1, 4, 5, 3)", 60)},
                              {"y_train", npy_labels({0})},
                              {"x_test", npy_bytes("(1, 4, 5, 3)", 60)},
                              {"y_test", npy_labels({1})}});
  ASSERT_EQ(pair.notes.size(), 2u);
  EXPECT_NE(pair.notes[0].find("'x_train'"), std::string::npos);
  EXPECT_NE(pair.notes[0].find("4x5x3"), std::string::npos);
  const auto values = fetch_sample(*pair.train, 0).inputs[0];
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 20; ++i) EXPECT_EQ(values[static_cast<std::size_t>(20 * c + i)], static_cast<float>(3 * i + c));
  // A spectrum of length x channels where the network takes channels x length.
  const DataPair spectra =
      read({{"x", npy_bytes("(5, 4, 2)", 40)}, {"y", npy_labels({0, 1, 0, 1, 0})}}, wanting({{2, 4}}));
  EXPECT_EQ(spectra.train->spec().inputs[0], tensor::Shape({2, 4}));
  EXPECT_EQ(spectra.notes.size(), 2u);
}

TEST(Numpy, TargetsAreWhatWasAskedFor) {
  const Bytes x = npy_bytes("(4, 2)", 8);
  const auto target = [&](const Bytes& y, const DataRequest& request) {
    return read({{"x_train", x}, {"y_train", y}, {"x_test", x}, {"y_test", y}}, request).train;
  };
  const Bytes floats = npy("<f4", "(4, 2)", raw<float>({0, 1, 1, 1, 0, 0, 1, 0}));
  DatasetPtr set = target(floats, wanting({}, TargetKind::labels));
  EXPECT_EQ(set->spec().target, TargetKind::labels);
  EXPECT_EQ(set->spec().classes, 2);
  EXPECT_EQ(fetch_sample(*set, 3).target, (std::vector<float>{1, 0}));
  set = target(npy("<f8", "(4,)", raw<double>({0.5, -1, 2, 1e3})), wanting({}, TargetKind::values));
  EXPECT_EQ(set->spec().classes, 1);
  EXPECT_EQ(fetch_sample(*set, 3).target, std::vector<float>{1000});
  set = target(npy("<f8", "(4, 1)", raw<double>({0, 3, 2, 1})), wanting({}, TargetKind::classes, 3));
  EXPECT_EQ(set->spec().classes, 4);
  EXPECT_EQ(target(npy_labels({0, 1, 1, 0}), wanting({}, TargetKind::classes, 10))->spec().classes, 10);
}

TEST(Numpy, WrongTargetsAreNamed) {
  const Bytes x = npy_bytes("(4, 2)", 8);
  const auto wrong = [&](const Bytes& y, TargetKind kind, const std::vector<std::string>& parts) {
    std::vector<std::string> all = parts;
    all.emplace_back("'y'");
    refused({{"x", x}, {"y", y}}, all, wanting({}, kind));
  };
  wrong(npy_labels({0, -1, 0, 0}), TargetKind::classes, {"-1", "sample 1"});
  wrong(npy("<f4", "(4,)", raw<float>({0, 1, 2, 1.5f})), TargetKind::classes, {"1.5", "sample 3"});
  wrong(npy_labels({0, 5'000'000, 0, 0}), TargetKind::classes, {"5000000"});
  wrong(npy_labels({0, std::numeric_limits<std::int64_t>::max(), 0, 0}), TargetKind::classes, {"class number"});
  wrong(npy_bytes("(4, 2)", 8), TargetKind::classes, {"4x2", "argmax"});
  wrong(npy_bytes("(4, 2)", 8), TargetKind::labels, {"expected 0 or 1"});
  wrong(npy_bytes("(4, 2, 1)", 8), TargetKind::values, {"4x2x1"});
  wrong(npy("|u1", "()", {1}), TargetKind::classes, {"scalar"});
  wrong(npy("<f4", "(4,)", raw<float>({0, 1, NAN, 1})), TargetKind::values, {"sample 2", "nan"});
  wrong(npy_labels({0, 1, 0}), TargetKind::classes, {"4 samples", "has 3", "one length"});
}

TEST(Numpy, WrongInputsAreNamed) {
  const Bytes y = npy_labels({0, 1});
  refused({{"x", npy("<f4", "(2, 2)", raw<float>({0, 1, 2, NAN}))}, {"y", y}}, {"'x'", "sample 1", "nan"});
  refused({{"x", npy("<f8", "(2, 2)", raw<double>({0, 1e300, 2, 3}))}, {"y", y}}, {"'x'", "sample 0", "inf"});
  refused({{"x", npy_bytes("(2,)", 2)}, {"y", y}}, {"'x'", "reshape"});
  refused({{"x", npy_bytes("(2, 1, 2, 1, 2)", 8)}, {"y", y}}, {"'x'", "1x2x1x2"});
  refused({{"x", npy("|O", "(2, 2)", Bytes(4))}, {"y", y}}, {"'x'", "pickled"});
  refused({{"x", npy_bytes("(0, 2)", 0)}, {"y", y}}, {"'x'", "empty"});
}

TEST(Numpy, MissingAndDoubleArraysAreNamed) {
  const Bytes x = npy_bytes("(2, 2)", 4), y = npy_labels({0, 1});
  refused({{"a", x}, {"b", y}}, {"a, b", "expected x_train"});
  refused({}, {"none"});
  refused({{"x", x}, {"y", y}}, {"2 samples", "test set"});
  refused({{"x_train", x}}, {"targets", "'x_train'"});
  refused({{"y_train", y}}, {"inputs", "'y_train'"});
  refused({{"x_test", x}, {"y_test", y}}, {"arrays to train with"});
  refused({{"x_train", x}, {"y_train", y}, {"x_test", x}}, {"targets", "'x_test'"});
  refused({{"x", x}, {"images", x}, {"y", y}}, {"'x' and 'images'"});
  refused({{"x_train", x}, {"y_train", y}, {"x_test", npy_bytes("(2, 3)", 6)}, {"y_test", y}},
          {"'x_train'", "1x2", "1x3"});
  refused({{"x_train", x}, {"y_train", y}, {"x1_test", x}, {"x2_test", x}, {"y_test", y}}, {"1 inputs", "2"});
  const DataPair pair = read({{"x_train", x},
                              {"y_train", y},
                              {"x_test", x},
                              {"y_test", y},
                              {"x", x},
                              {"names", npy("<U3", "(2,)", Bytes(24))}});
  ASSERT_EQ(pair.notes.size(), 1u);
  EXPECT_NE(pair.notes[0].find("not used: names, x"), std::string::npos) << pair.notes[0];
}

TEST(Numpy, OpensFilesAndFolders) {
  const TempFolder folder;
  const Bytes x = npy_bytes("(10, 2, 2)", 40), y = npy_labels({0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  write_bytes(folder.path() / "file.npz", npz({{"x", x}, {"y", y}}));
  write_bytes(folder.path() / "arrays/x_train.npy.zst", pack_zstd(x));
  write_bytes(folder.path() / "arrays/y_train.npy", y);
  write_bytes(folder.path() / "arrays/x_test.npy", x);
  write_bytes(folder.path() / "arrays/y_test.npy.gz", pack_gz(y));
  DataRequest request;
  request.name = (folder.path() / "file.npz").string();
  EXPECT_EQ(open_dataset(request).train->size(), 8);
  request.name = (folder.path() / "arrays").string();
  const DataPair pair = open_dataset(request);
  EXPECT_EQ(pair.test->size(), 10);
  EXPECT_EQ(fetch_sample(*pair.train, 9).inputs[0], (std::vector<float>{36, 37, 38, 39}));
  request.name = (folder.path() / "arrays/y_train.npy").string();
  expect_user_error([&] { open_dataset(request); }, {"y_train.npy", "single array"});
  write_bytes(folder.path() / "arrays/x_test.npy", Bytes(x.begin(), x.end() - 1));
  request.name = (folder.path() / "arrays").string();
  expect_user_error([&] { open_dataset(request); }, {"x_test.npy", "cut short"});
}

// Every length of an archive, and every byte changed: an error or a dataset, never a crash.
TEST(Numpy, DamageAnywhereIsSurvived) {
  const Bytes x = npy_bytes("(5, 2)", 10), y = npy_labels({0, 1, 0, 1, 0});
  const auto survives = [](const Bytes& bytes) {
    try {
      read_npz(bytes, "file.npz", {});
    } catch (const base::Error& error) {
      EXPECT_EQ(error.exit_code(), 2) << error.what();
    }
  };
  for (const ZipStyle& style : {ZipStyle{}, ZipStyle{true, ""}}) {
    const Bytes whole = zip({{"x.npy", x, true}, {"y.npy", y}}, style);
    ASSERT_NO_THROW(read_npz(whole, "file.npz", {}));
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
      expect_user_error([&] { read_npz(cut, "file.npz", {}); }, {"file.npz"});
      for (const std::uint8_t change : {0x01, 0x04, 0x80, 0xff}) {
        Bytes damaged = whole;
        damaged[i] ^= change;
        survives(damaged);
      }
    }
  }
}

}  // namespace
}  // namespace trireme::data
