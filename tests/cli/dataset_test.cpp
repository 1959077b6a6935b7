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

TEST_F(Files, PackedTheyGiveTheSameBits) {
  const Words settings{"--model", "lenet5", "--batch", "16", "--epochs", "2", "--augment", "crop,flip,rotate"};
  const Outcome packed = run({"data", "pack", "--data", "mnist", "--data-dir", "small", "--to", "small.trireme"});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_NE(packed.out.find("80 training and 30 test samples"), std::string::npos) << packed.out;
  const Json plain = trained(settings + Words{"--data", "mnist", "--data-dir", "small", "--run", "plain"});
  const Json mapped = trained(settings + Words{"--data", "./small.trireme"});
  EXPECT_EQ(mapped["weights_sha256"], plain["weights_sha256"]);
  EXPECT_TRUE(fs::is_directory(folder() / "runs/lenet5-small-1")) << "named after the file";
  expect_refused({"data", "pack", "--data", "mnist", "--data-dir", "small", "--to", "small.trireme"}, {"exists"});
  expect_refused({"data", "pack", "--data", "mnist", "--data-dir", "small", "--to", "small.bin"}, {".trireme"});
  expect_refused({"data", "pack", "--data", "mnist", "--data-dir", "small"}, {"--to"});
}

TEST_F(Files, InfoSaysWhatTheyHold) {
  const Words info{"data", "info", "--data", "mnist", "--data-dir", "small"};
  const Outcome text = run(info);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("1x12x12 -> 10 classes"), std::string::npos) << text.out;
  const Json json = last_json(run(info + Words{"--json"}));
  EXPECT_EQ(json["train"]["samples"], 80);
  EXPECT_EQ(json["train"]["counts"], Json(std::vector<int>(10, 8)));
  EXPECT_EQ(json["test"]["counts"], Json(std::vector<int>(10, 3)));
  // A row of 255 among eleven of 16.
  EXPECT_NEAR(json["statistics"][0]["mean"][0].get<double>(), (255 + 11 * 16) / 12.0, 1e-4);
  run({"data", "pack", "--data", "mnist", "--data-dir", "small", "--to", "a.trireme"});
  std::string bytes = read(folder() / "a.trireme");
  bytes.back() = 0;
  write(folder() / "a.trireme", bytes);
  expect_refused({"data", "info", "--data", "a.trireme"}, {"checksum", "test set's targets"});
  expect_refused({"data"}, {"info, pack or show"});
  expect_refused({"data", "inof"}, {"did you mean 'info'"});
  expect_refused({"data", "info", "--data", "./nothing.npz"}, {"nothing.npz", "does not exist"});
  write(folder() / "strange.xyz", "?");
  expect_refused({"data", "info", "--data", "strange.xyz"}, {"strange.xyz", "no known format", "packed"});
}

TEST_F(Files, CanBeLookedAt) {
  const Words show{"data", "show", "--data", "mnist", "--data-dir", "small", "--augment", "crop=2,flip"};
  const Outcome shown = run(show + Words{"--to", "look.png"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("64 of 80 samples"), std::string::npos) << shown.out;
  EXPECT_EQ(read(folder() / "look.png").substr(1, 3), "PNG");
  run(show + Words{"--to", "later.png", "--epoch", "1"});
  EXPECT_NE(read(folder() / "later.png"), read(folder() / "look.png")) << "another epoch draws otherwise";
  expect_refused(show + Words{"--to", "look.png"}, {"look.png", "exists"});
  expect_refused(show + Words{"--to", "look.jpg"}, {".png"});
  expect_refused(show + Words{"--to", "new.png", "--split", "tset"}, {"tset", "train", "test"});
}

TEST_F(Files, InputIsMeasured) {
  const Words bench{"bench", "input", "--data", "mnist", "--data-dir", "small", "--repeats", "1", "--processes", "2"};
  const Json result = last_json(run(bench + Words{"--batch", "16", "--json"}))["results"][0];
  EXPECT_EQ(result["samples"], 80);
  EXPECT_EQ(result["sample_bytes"], kSide * kSide);
  EXPECT_GT(result["samples_per_second"].get<double>(), 0);
  EXPECT_GT(result["first_batch_ms"].get<double>(), 0);
  EXPECT_GT(result["mapping_mb"].get<double>(), 0);
  expect_refused(bench + Words{"--batch", "81"}, {"81", "80 samples"});
  expect_refused(bench + Words{"--augment", "corp"}, {"did you mean 'crop'"});
}

TEST_F(Files, OfOnesOwnMayAskForValues) {
  std::string table;
  for (int i = 0; i < 40; ++i) {
    for (int k = 0; k < 36; ++k) table += std::to_string((i * 7 + k * 3) % 50) + ",";
    table += std::to_string(0.1 * (i % 5)) + "\n";
  }
  write(folder() / "table.csv", table);
  const Json json = last_json(run({"data", "info", "--data", "table.csv", "--target", "values", "--json"}));
  EXPECT_EQ(json["train"]["samples"].get<int>() + json["test"]["samples"].get<int>(), 40);
  EXPECT_EQ(run({"data", "pack", "--data", "table.csv", "--target", "values", "--to", "t.trireme"}).code, 0);
  // The network does not fit 36 numbers, but the kind of target is understood, and a wrong one named.
  expect_refused(wanted() + Words{"--data-dir", "small", "--target", "values"}, {"--target", "values", "classes"});
}

// The ledger of every epoch, as the run folder has it.
std::vector<Json> ledgers(const fs::path& run) {
  std::vector<Json> all;
  for (const std::string& line : lines_of(read(run / "metrics.jsonl")))
    if (const Json json = Json::parse(line); json["type"] == "epoch") all.push_back(json["ledger"]);
  return all;
}

TEST_F(Files, EverySampleIsUsedOnceAlsoAfterAStop) {
  const Words settings{"--model", "lenet5",     "--data",   "mnist",   "--data-dir",
                       "small",   "--schedule", "constant", "--batch", "16"};
  trained(settings + Words{"--epochs", "3", "--run", "whole"});
  trained(settings + Words{"--steps", "7", "--run", "parts", "--threads", "2"});  // in the second epoch
  trained({"--resume", "parts", "--epochs", "3", "--threads", "1"});
  const std::vector<Json> whole = ledgers(folder() / "whole"), parts = ledgers(folder() / "parts");
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(parts, whole);
  for (const Json& epoch : whole) {
    EXPECT_EQ(epoch["once"], 80);
    EXPECT_EQ(epoch["missed"], 0);
    EXPECT_EQ(epoch["repeated"], 0);
  }
  EXPECT_NE(whole[0]["order"], whole[1]["order"]);
}

TEST_F(Files, AreSharedOutAsAsked) {
  const Words settings{"--model", "lenet5", "--data", "mnist", "--data-dir", "small", "--batch", "16"};
  const auto ledger = [&](const std::string& scheme, const std::string& run) {
    trained(settings + Words{"--distribute", scheme, "--run", run});
    return ledgers(folder() / run).front();
  };
  const Json global = ledger("global", "g"), by_label = ledger("by-label:workers=4", "l");
  EXPECT_EQ(by_label["once"], 80);
  EXPECT_NE(by_label["order"], global["order"]);
  const Json fraction = ledger("fraction=25%:workers=2", "f");
  EXPECT_EQ(fraction["used"], 80);
  EXPECT_GT(fraction["missed"].get<int>(), 0);
  expect_refused(wanted() + Words{"--data-dir", "small", "--distribute", "by-lable"}, {"did you mean 'by-label'"});
  expect_refused(wanted() + Words{"--data-dir", "small", "--distribute", "contiguous:workers=17"}, {"17 workers"});
}

}  // namespace
}  // namespace trireme::cli_test
