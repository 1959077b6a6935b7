// Reading MNIST-like and CIFAR files, finding folders, and every way such files can be wrong.
#include <cstdlib>

#include "data/helpers.h"
#include "data/open_data.h"
#include "data/readers/cifar.h"
#include "data/readers/find_data.h"
#include "data/readers/idx.h"
#include "data/readers/load_tasks.h"

namespace trireme::data {
namespace {

void put_number(Bytes& bytes, std::uint32_t n) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(n >> shift));
}

Bytes idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns, std::uint32_t magic = 0x803) {
  Bytes bytes;
  for (const std::uint32_t n : {magic, count, rows, columns}) put_number(bytes, n);
  for (std::uint32_t i = 0; i < count * rows * columns; ++i) bytes.push_back(static_cast<std::uint8_t>(i % 256));
  return bytes;
}

Bytes idx_labels(const Bytes& labels, std::uint32_t magic = 0x801) {
  Bytes bytes;
  put_number(bytes, magic);
  put_number(bytes, static_cast<std::uint32_t>(labels.size()));
  bytes.insert(bytes.end(), labels.begin(), labels.end());
  return bytes;
}

void write_mnist(const fs::path& folder) {
  write_bytes(folder / "train-images-idx3-ubyte.gz", pack_gz(idx_images(5, 3, 2)));
  write_bytes(folder / "train-labels-idx1-ubyte", idx_labels({0, 9, 3, 3, 1}));
  write_bytes(folder / "t10k-images-idx3-ubyte.xz", pack_xz(idx_images(2, 3, 2)));
  write_bytes(folder / "t10k-labels-idx1-ubyte.gz", pack_gz(idx_labels({7, 8})));
}

DataRequest request(const std::string& name, const fs::path& folder) {
  DataRequest r;
  r.name = name;
  r.data_dir = folder.string();
  return r;
}

class Idx : public ::testing::Test {
 protected:
  void expect_error(const Bytes& images, const Bytes& labels, const std::vector<std::string>& parts) {
    write_bytes(images_path(), images);
    write_bytes(labels_path(), labels);
    expect_user_error([&] { read_idx(builtin_codecs(), images_path(), labels_path(), 10, {}); }, parts);
  }
  fs::path images_path() const { return folder_.path() / "images"; }
  fs::path labels_path() const { return folder_.path() / "labels"; }
  TempFolder folder_;
};

TEST_F(Idx, ReadsEveryPackingAndKeepsTheOrder) {
  write_mnist(folder_.path() / "mnist");
  const DataPair pair = open_dataset(request("mnist", folder_.path()));
  ASSERT_EQ(pair.train->size(), 5);
  ASSERT_EQ(pair.test->size(), 2);
  EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{1, 3, 2}}));
  EXPECT_EQ(pair.train->spec().class_names.size(), 10u);
  EXPECT_EQ(fetch_sample(*pair.train, 1).target, std::vector<float>{9});
  EXPECT_EQ(fetch_sample(*pair.train, 4).inputs[0], (std::vector<float>{24, 25, 26, 27, 28, 29}));
  EXPECT_EQ(fetch_sample(*pair.test, 1).inputs[0], (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_THROW(fetch_sample(*pair.test, 2), base::Error);
}

TEST_F(Idx, WrongFilesAreNamed) {
  const Bytes labels = idx_labels({0, 1, 2});
  expect_error(idx_images(3, 2, 2, 0x801), labels, {"images", "00000801", "00000803"});
  expect_error(idx_images(3, 2, 2), idx_labels({0, 1, 2}, 0x803), {"labels", "00000803"});
  expect_error({}, labels, {"images", "cut short"});
  expect_error({0, 0, 8}, labels, {"images", "cut short"});
  expect_error(idx_images(0, 2, 2), labels, {"empty"});
  expect_error(idx_images(3, 0, 2), labels, {"0x2"});
  expect_error(idx_images(3, 2, 2), idx_labels({}), {"labels", "empty"});
  expect_error(idx_images(3, 2, 2), idx_labels({0, 1}), {"2 labels", "3 images"});
  expect_error(idx_images(3, 2, 2), idx_labels({0, 10, 2}), {"label 10", "sample 1", "0 ... 9"});
  Bytes cut = idx_images(3, 2, 2);
  cut.pop_back();
  expect_error(cut, labels, {"cut short", "12", "11"});
  Bytes longer = idx_images(3, 2, 2);
  longer.push_back(0);
  expect_error(longer, labels, {"longer"});
  Bytes lying;
  for (const std::uint32_t n : {0x803u, 0xffffffffu, 28u, 28u}) put_number(lying, n);
  expect_error(lying, labels, {"4294967295"});
  lying.clear();
  for (const std::uint32_t n : {0x803u, 9'000'000u, 4096u, 4096u}) put_number(lying, n);
  expect_error(lying, labels, {"promises"});
}

TEST_F(Idx, TrainAndTestMustHaveOneSize) {
  write_mnist(folder_.path());
  fs::remove(folder_.path() / "t10k-images-idx3-ubyte.xz");
  write_bytes(folder_.path() / "t10k-images-idx3-ubyte", idx_images(2, 2, 3));
  expect_user_error([&] { open_mnist({.data_dir = folder_.path().string()}); }, {"1x3x2", "1x2x3"});
}

// The environment is put back after each test.
class Finding : public ::testing::Test {
 protected:
  Finding() {
    if (const char* value = std::getenv("TRIREME_DATA")) saved_ = value;
    ::unsetenv("TRIREME_DATA");
  }
  ~Finding() override {
    if (saved_.empty())
      ::unsetenv("TRIREME_DATA");
    else
      ::setenv("TRIREME_DATA", saved_.c_str(), 1);
  }
  std::string saved_;
  TempFolder folder_;
};

TEST_F(Finding, LooksInTheFolderItsUsualNamesAndTheEnvironment) {
  write_mnist(folder_.path() / "direct");
  EXPECT_EQ(open_mnist({.data_dir = (folder_.path() / "direct").string()}).train->size(), 5);
  write_mnist(folder_.path() / "a" / "MNIST" / "raw");
  EXPECT_EQ(open_mnist({.data_dir = (folder_.path() / "a").string()}).train->size(), 5);
  write_mnist(folder_.path() / "b" / "mnist");
  ::setenv("TRIREME_DATA", (folder_.path() / "b").c_str(), 1);
  EXPECT_EQ(open_mnist({.data_dir = ""}).train->size(), 5);
  fs::create_directories(folder_.path() / "empty");
  EXPECT_EQ(open_mnist({.data_dir = (folder_.path() / "empty").string()}).train->size(), 5);
}

TEST_F(Finding, SaysWhereItLookedAndWhatToDo) {
  const std::string empty = folder_.path().string();
  expect_user_error([&] { open_mnist({.data_dir = empty}); },
                    {"mnist was not found", empty, "train-images-idx3-ubyte", "--data-dir", "synthetic"});
  expect_user_error([&] { open_cifar10({.data_dir = empty}); },
                    {"cifar10 was not found", empty, "data_batch_1.bin", "synthetic"});
  expect_user_error([&] { open_cifar100({.data_dir = empty}); }, {"cifar100 was not found", empty, "train.bin"});
  expect_user_error([&] { open_cifar10({.data_dir = ""}); }, {"TRIREME_DATA", "--data-dir"});
  expect_user_error([&] { open_mnist({.data_dir = empty + "/absent"}); }, {"absent", "does not exist"});
  const FolderQuery query{"toy", {}, {{"file"}}, {"/nonexistent/place"}, {}, "run 'apt-get install toy'"};
  expect_user_error([&] { find_data_folder(query, {}); }, {"/nonexistent/place", "apt-get install toy"});
}

TEST_F(Finding, MnistIsNotTakenForFashionMnist) {
  write_mnist(folder_.path() / "fashion-mnist");
  expect_user_error([&] { open_mnist({.data_dir = (folder_.path() / "fashion-mnist").string()}); },
                    {"mnist was not found"});
  expect_user_error([&] { open_mnist({.data_dir = (folder_.path() / "fashion-mnist/").string()}); },
                    {"mnist was not found"});
  EXPECT_EQ(open_fashion_mnist({.data_dir = (folder_.path() / "fashion-mnist").string()}).train->size(), 5);
}

TEST_F(Finding, AnUnknownDatasetGetsTheNearestName) {
  expect_user_error([&] { open_dataset(request("cifar-10", folder_.path())); }, {"cifar-10", "did you mean 'cifar10'"});
  EXPECT_EQ(builtin_readers().datasets.names().size(), 5u);
}

Bytes cifar_records(const std::vector<Bytes>& labels, std::uint8_t first) {
  Bytes bytes;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    bytes.insert(bytes.end(), labels[r].begin(), labels[r].end());
    for (int i = 0; i < 3072; ++i)
      bytes.push_back(static_cast<std::uint8_t>(first + r + static_cast<std::size_t>(i) / 1024));
  }
  return bytes;
}

void write_cifar10(const fs::path& folder) {
  for (int i = 1; i <= 5; ++i) {
    const Bytes bytes = cifar_records({{static_cast<std::uint8_t>(i)}, {9}}, static_cast<std::uint8_t>(10 * i));
    const std::string stem = "data_batch_" + std::to_string(i) + ".bin";
    if (i % 3 == 0)
      write_bytes(folder / stem, bytes);
    else
      write_bytes(folder / (stem + (i % 3 == 1 ? ".gz" : ".xz")), i % 3 == 1 ? pack_gz(bytes) : pack_xz(bytes));
  }
  write_bytes(folder / "test_batch.bin", cifar_records({{0}, {1}, {2}}, 100));
}

TEST(Cifar, Reads10InOrder) {
  const TempFolder folder;
  write_cifar10(folder.path() / "cifar-10-batches-bin");
  const DataPair pair = open_dataset(request("cifar10", folder.path()));
  ASSERT_EQ(pair.train->size(), 10);
  ASSERT_EQ(pair.test->size(), 3);
  EXPECT_EQ(pair.train->spec().class_names[3], "cat");
  for (std::int64_t i = 0; i < 10; ++i) {
    const Sample sample = fetch_sample(*pair.train, i);
    EXPECT_EQ(sample.target[0], static_cast<float>(i % 2 ? 9 : i / 2 + 1));
    const auto first = static_cast<float>(10 * (i / 2 + 1) + i % 2);
    EXPECT_EQ(sample.inputs[0][0], first);
    EXPECT_EQ(sample.inputs[0][1023], first);
    EXPECT_EQ(sample.inputs[0][1024], first + 1);
    EXPECT_EQ(sample.inputs[0][3071], first + 2);
  }
}

TEST(Cifar, Reads100ByFineLabel) {
  const TempFolder folder;
  write_bytes(folder.path() / "train.bin", cifar_records({{19, 99}, {0, 42}}, 1));
  write_bytes(folder.path() / "test.bin.xz", pack_xz(cifar_records({{5, 0}}, 7)));
  const DataPair pair = open_dataset(request("cifar100", folder.path()));
  EXPECT_EQ(pair.train->spec().classes, 100);
  EXPECT_TRUE(pair.train->spec().class_names.empty());
  EXPECT_EQ(fetch_sample(*pair.train, 0).target[0], 99.0f);
  EXPECT_EQ(fetch_sample(*pair.train, 1).target[0], 42.0f);
  EXPECT_EQ(fetch_sample(*pair.test, 0).inputs[0][1024], 8.0f);
  write_bytes(folder.path() / "train.bin", cifar_records({{19, 100}}, 1));
  expect_user_error([&] { open_cifar100({.data_dir = folder.path().string()}); },
                    {"train.bin", "label 100", "0 ... 99"});
}

TEST(Cifar, WrongFilesAreNamed) {
  const TempFolder folder;
  write_cifar10(folder.path());
  const auto expect = [&](const Bytes& bytes, const std::vector<std::string>& parts) {
    write_bytes(folder.path() / "test_batch.bin", bytes);
    expect_user_error([&] { open_cifar10({.data_dir = folder.path().string()}); }, parts);
  };
  expect({}, {"test_batch.bin", "empty"});
  expect(cifar_records({{10}}, 0), {"test_batch.bin", "label 10", "record 0"});
  Bytes cut = cifar_records({{1}, {2}}, 0);
  cut.pop_back();
  expect(cut, {"test_batch.bin", "record 1", "3072", "3073"});
  Bytes many(std::size_t{10'001} * 3073);
  expect(many, {"more than the 10000"});
  many.resize(std::size_t{10'000} * 3073);
  write_bytes(folder.path() / "test_batch.bin", many);
  EXPECT_EQ(open_cifar10({.data_dir = folder.path().string()}).test->size(), 10'000);
}

TEST(LoadTasks, RunsEachOnceAndThrowsTheFirstErrorInOrder) {
  std::vector<std::atomic<int>> ran(7);
  std::vector<std::function<void()>> tasks;
  for (std::size_t i = 0; i < ran.size(); ++i)
    tasks.emplace_back([&ran, i] {
      ++ran[i];
      if (i == 2 || i == 5) base::user_error("task {}", i);
    });
  expect_user_error([&] { run_load_tasks(tasks); }, {"task 2"});
  for (const auto& count : ran) EXPECT_EQ(count, 1);
  EXPECT_NO_THROW(run_load_tasks({}));
}

// The real sets, where they are installed. Label counts are the published ones.
std::vector<int> count_labels(const Dataset& dataset) {
  std::vector<int> counts(static_cast<std::size_t>(dataset.spec().classes));
  for (std::int64_t i = 0; i < dataset.size(); ++i)
    ++counts[static_cast<std::size_t>(fetch_sample(dataset, i).target[0])];
  return counts;
}

TEST(RealData, FashionMnist) {
  if (!fs::exists("/usr/share/datasets/fashion-mnist")) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const DataPair pair = open_fashion_mnist({.data_dir = ""});
  EXPECT_EQ(pair.train->size(), 60'000);
  EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{1, 28, 28}}));
  EXPECT_EQ(count_labels(*pair.test), std::vector<int>(10, 1000));
  EXPECT_EQ(count_labels(*pair.train), std::vector<int>(10, 6000));
}

TEST(RealData, MnistAndCifar10) {
  const char* folder = std::getenv("TRIREME_DATA");
  for (const char* name : {"mnist", "cifar-10"})
    if (!folder || !fs::exists(fs::path(folder) / name)) GTEST_SKIP() << "TRIREME_DATA names no folder with " << name;
  const DataPair mnist = open_mnist({.data_dir = ""});
  EXPECT_EQ(count_labels(*mnist.train), (std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
  EXPECT_EQ(count_labels(*mnist.test), (std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  const DataPair cifar = open_cifar10({.data_dir = ""});
  EXPECT_EQ(count_labels(*cifar.train), std::vector<int>(10, 5000));
  EXPECT_EQ(count_labels(*cifar.test), std::vector<int>(10, 1000));
}

}  // namespace
}  // namespace trireme::data
