// Data from files: a small IDX dataset made here, whole and damaged.
#include "cli/program.h"

namespace trireme::cli_test {
namespace {

constexpr int kSide = 12;

std::string number(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

// Images whose class is the row that is bright.
std::string images(int count) {
  std::string bytes = number(0x803) + number(static_cast<std::uint32_t>(count)) + number(kSide) + number(kSide);
  for (int i = 0; i < count; ++i)
    for (int row = 0; row < kSide; ++row) bytes += std::string(kSide, row == i % 10 ? '\xff' : '\x10');
  return bytes;
}

std::string labels(int count) {
  std::string bytes = number(0x801) + number(static_cast<std::uint32_t>(count));
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

class Files : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    fs::create_directory(data());
    write(data() / "train-images-idx3-ubyte", images(80));
    write(data() / "train-labels-idx1-ubyte", labels(80));
    write(data() / "t10k-images-idx3-ubyte", images(30));
    write(data() / "t10k-labels-idx1-ubyte", labels(30));
  }
  fs::path data() const { return folder() / "small"; }
  Words wanted() const { return {"train", "--model", "lenet5", "--data", "mnist", "--batch", "16", "--run", "r"}; }
  void expect_named(const Words& sayings) const { expect_refused(wanted() + Words{"--data-dir", "small"}, sayings); }
};

TEST_F(Files, SmallImagesAreEnlargedAndLearnt) {
  const Json summary = trained(
      {"--model", "lenet5", "--data", "mnist", "--data-dir", "small", "--batch", "16", "--epochs", "12", "--run", "r"});
  EXPECT_EQ(summary["steps"], 12 * 5);
  EXPECT_GT(summary["test_accuracy"].get<double>(), 0.9);
  const Json run_json = Json::parse(read(folder() / "r/run.json"));
  EXPECT_EQ(run_json["resolved"]["train_samples"], 80);
  EXPECT_EQ(run_json["resolved"]["test_samples"], 30);
}

TEST_F(Files, AreFoundThroughTheEnvironment) {
  const Outcome found = run(wanted(), {"TRIREME_DATA=" + data().string()});
  EXPECT_EQ(found.code, 0) << found.err;
}

TEST_F(Files, MissingFoldersAndFilesAreNamed) {
  expect_refused(wanted(), {"mnist", "--data-dir"});
  expect_refused(wanted() + Words{"--data-dir", "nowhere"}, {"nowhere", "--data-dir"});
  fs::remove(data() / "t10k-labels-idx1-ubyte");
  expect_named({"t10k-labels-idx1-ubyte", "small"});
}

TEST_F(Files, DamagedOnesAreNamed) {
  const fs::path train_images = data() / "train-images-idx3-ubyte", test_labels = data() / "t10k-labels-idx1-ubyte";
  const std::string whole = images(80);
  write(train_images, whole.substr(0, whole.size() - 1));
  expect_named({"train-images-idx3-ubyte"});
  write(train_images, whole + "x");
  expect_named({"train-images-idx3-ubyte"});
  write(train_images, "");
  expect_named({"train-images-idx3-ubyte"});
  write(train_images, labels(80));
  expect_named({"train-images-idx3-ubyte", "00000803"});
  write(train_images, number(0x803) + number(0xffffffff) + number(kSide) + number(kSide));
  expect_named({"train-images-idx3-ubyte"});
  write(train_images, images(79));
  expect_named({"80", "79"});
  write(train_images, whole);
  write(test_labels, labels(29) + "\x0a");
  expect_named({"t10k-labels-idx1-ubyte"});
  std::string wrong = labels(30);
  wrong.back() = 10;
  write(test_labels, wrong);
  expect_named({"t10k-labels-idx1-ubyte", "10"});
}

TEST_F(Files, AGzipThatIsNone) {
  fs::rename(data() / "train-images-idx3-ubyte", data() / "train-images-idx3-ubyte.gz");
  expect_named({"train-images-idx3-ubyte.gz"});
}

}  // namespace
}  // namespace trireme::cli_test
