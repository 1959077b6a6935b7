// Folders of photos as people have them: of any sizes, with names in any script, turned by the camera.
#include "cli/own_files.h"
#include "data/readers/images/image_helpers.h"

namespace trireme::cli_test {
namespace {

const Words kAnimals{"\u00c4pfel", "\u0441\u043e\u0431\u0430\u043a\u0430", "\u732b"};

class Photos : public OwnFiles {
 protected:
  // A picture of this size whose left, middle or right third is bright. Every fourth is stored lying on its side, as a
  // JPEG file of a camera.
  std::string shot(int third, int number) const {
    const int rows = 30 + number * 7 % 50, columns = 33 + number * 11 % 60;
    const bool lies = number % 4 == 0;
    data::Bytes pixels;
    for (int y = 0; y < (lies ? columns : rows); ++y)
      for (int x = 0; x < (lies ? rows : columns); ++x) {
        const int seen = lies ? columns - 1 - y : x;  // orientation 6: the first row is seen on the right
        pixels.push_back(static_cast<std::uint8_t>((seen * 3 / columns == third ? 210 : 20) + number % 20));
      }
    if (!lies) {
      const auto png = data::encode_png({1, rows, columns, pixels});
      return {png.begin(), png.end()};
    }
    const auto jpeg = data::with_exif(
        data::make_jpeg(static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns), JCS_GRAYSCALE, pixels),
        data::make_tiff(6, number % 8 == 0));
    return {jpeg.begin(), jpeg.end()};
  }
  void make_album(const std::string& name, int each) const {
    for (std::size_t c = 0; c < kAnimals.size(); ++c)
      for (int i = 0; i < each; ++i) {
        fs::create_directories(folder() / name / kAnimals[c]);
        write(folder() / name / kAnimals[c] / (kAnimals[c] + std::to_string(i) + (i % 4 == 0 ? ".jpg" : ".png")),
              shot(static_cast<int>(c), i));
      }
  }
  static bool says(const Outcome& outcome, const std::string& what) {
    return (outcome.out + outcome.err).find(what) != std::string::npos;
  }
};

TEST_F(Photos, OfAnySizesTrainResumeAndPredict) {
  make_album("photos", 16);
  const Words wanted{"--model", "mlp:hidden=32", "--data", "photos", "--batch", "8", "--optimizer", "sgd:lr=0.02"};
  const Json whole = trained(wanted + Words{"--epochs", "6", "--run", "r"});
  EXPECT_EQ(whole["test_accuracy"], 1);
  const Json run_json = Json::parse(read(folder() / "r/run.json"));
  EXPECT_EQ(run_json["configuration"]["image-size"], "32x32");
  EXPECT_EQ(run_json["configuration"]["image-upright"], "yes");
  EXPECT_EQ(run_json["samples"]["class_names"], Json(kAnimals));

  const Json two = trained(wanted + Words{"--epochs", "6", "--workers", "2", "--oars", "4", "--run", "two"});
  const Json one = trained(wanted + Words{"--epochs", "6", "--oars", "4", "--run", "one"});
  EXPECT_EQ(two["weights_sha256"], one["weights_sha256"]);
  trained(wanted + Words{"--epochs", "3", "--schedule", "constant", "--run", "half"});
  const Json resumed = trained({"--resume", "half", "--epochs", "6"});
  EXPECT_EQ(resumed["weights_sha256"],
            trained(wanted + Words{"--epochs", "6", "--schedule", "constant", "--run", "full"})["weights_sha256"]);

  fs::create_directory(folder() / "flat");
  for (int i = 0; i < 9; ++i)
    write(folder() / "flat" / (std::to_string(i) + (i % 4 == 0 ? ".jpg" : ".png")), shot(i % 3, 40 + i));
  const Outcome outcome = run({"predict", "--run", "r", "--data", "flat"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(says(outcome, "9 of 9 images resized to 32x32")) << outcome.err;
  EXPECT_TRUE(says(outcome, "3 of 9 images turned upright")) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 10u);
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NE(lines[i + 1].find("," + kAnimals[i % 3] + ","), std::string::npos) << lines[i + 1];
}

TEST_F(Photos, SizeAndFitBelongToTheRun) {
  make_album("photos", 8);
  const Json summary = trained({"--model", "mnist-cnn", "--data", "photos", "--batch", "8", "--image-size", "28x36",
                                "--image-fit", "pad", "--epochs", "1", "--run", "r"});
  const Json run_json = Json::parse(read(folder() / "r/run.json"));
  EXPECT_EQ(run_json["samples"]["inputs"], Json({{1, 28, 36}}));
  const Outcome outcome = run({"eval", "--run", "r", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["accuracy"], summary["test_accuracy"]);
  const Outcome predicted = run({"predict", "--run", "r", "--data", "photos/" + kAnimals[2]});
  EXPECT_TRUE(says(predicted, "8 of 8 images resized and padded with black to 28x36")) << predicted.err;
}

TEST_F(Photos, PackedOnesGiveTheSameWeights) {
  make_album("photos", 8);
  const Outcome packed =
      run({"data", "pack", "--data", "photos", "--image-size", "40x32", "--image-fit", "crop", "--to", "p.trireme"});
  ASSERT_EQ(packed.code, 0) << packed.err;
  const Words wanted{"--model", "mlp:hidden=8", "--batch", "8", "--epochs", "1"};
  const Json a = trained(wanted + Words{"--data", "./p.trireme", "--run", "a"});
  const Json b =
      trained(wanted + Words{"--data", "photos", "--image-size", "40x32", "--image-fit", "crop", "--run", "b"});
  EXPECT_EQ(a["weights_sha256"], b["weights_sha256"]);
  EXPECT_EQ(Json::parse(read(folder() / "a/run.json"))["configuration"]["image-fit"], "crop") << "for other photos";
  const auto answers = [&](const std::string& run_name) {
    return run({"predict", "--run", run_name, "--data", "photos/" + kAnimals[1]}).out;
  };
  EXPECT_EQ(answers("a"), answers("b"));
  EXPECT_NE(answers("a"), "");
}

TEST_F(Photos, DataInfoAndShowDescribeThem) {
  make_album("photos", 8);
  const Outcome info = run({"data", "info", "--data", "photos"});
  ASSERT_EQ(info.code, 0) << info.err;
  for (const char* part : {"24 files: 24 grey, 6 with an EXIF orientation", "8 sizes, median", "all get 32x32"})
    EXPECT_TRUE(says(info, part)) << part << "\n" << info.out;
  const Json json = Json::parse(run({"data", "info", "--data", "photos", "--json"}).out);
  EXPECT_EQ(json["images"]["files"], 24);
  EXPECT_EQ(json["images"]["modes"], Json({{"grey", 24}}));
  EXPECT_EQ(json["images"]["exif_turned"], 6);
  EXPECT_EQ(json["images"]["sizes"].size(), 8u);
  EXPECT_EQ(json["class_names"], Json(kAnimals));
  const Outcome shown = run({"data", "show", "--data", "photos", "--to", "look.png"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_GT(data::read_image(folder() / "look.png").columns, 400);
}

TEST_F(Photos, AMachineWithoutFontsDrawsThemWithoutLabels) {
  make_album("photos", 4);
  write(folder() / "fonts.conf", "<?xml version=\"1.0\"?><fontconfig><dir>" + (folder() / "none").string() +
                                     "</dir><cachedir>" + (folder() / "cache").string() + "</cachedir></fontconfig>");
  const Outcome shown = run({"data", "show", "--data", "photos", "--to", "look.png"},
                            {"FONTCONFIG_FILE=" + (folder() / "fonts.conf").string()});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_TRUE(says(shown, "no fonts")) << shown.out;
  EXPECT_LT(data::read_image(folder() / "look.png").columns, 2000);
}

// A run.json of a program that did not turn images.
TEST_F(Photos, OlderRunsKeepImagesAsTheyAreStored) {
  make_album("photos", 8);
  Json old{{"configuration", {{"model", "mnist-cnn"}, {"data", "photos"}, {"batch", "8"}, {"epochs", "1"}}}};
  write(folder() / "old.json", old.dump());
  const Json again = trained({"--config", "old.json", "--run", "again"});
  EXPECT_EQ(Json::parse(read(folder() / "again/run.json"))["configuration"]["image-upright"], "no");
  const Words wanted{"--model", "mnist-cnn", "--data", "photos", "--batch", "8"};
  const Json stored = trained(wanted + Words{"--image-upright", "no", "--run", "stored"});
  const Json turned = trained(wanted + Words{"--run", "turned"});
  EXPECT_EQ(again["weights_sha256"], stored["weights_sha256"]);
  EXPECT_NE(turned["weights_sha256"], stored["weights_sha256"]);
}

TEST_F(Photos, WrongSizesAndFitsAreNamed) {
  make_album("photos", 8);
  const Words wanted{"train", "--model", "mlp", "--data", "photos", "--batch", "8", "--run", "r"};
  expect_refused(wanted + Words{"--image-size", "0x8"}, {"--image-size", "'0x8'", "ROWSxCOLUMNS"});
  expect_refused(wanted + Words{"--image-fit", "squeeze"}, {"squeeze", "stretch"});
  expect_refused(wanted + Words{"--image-upright", "left"}, {"left", "yes"});
  fs::create_directory(folder() / "arrays");
  write(folder() / "arrays/x.npy", npy_bytes("10, 4, 4", std::string(160, 'a')));
  write(folder() / "arrays/y.npy", npy_bytes("10,", std::string(10, '\0')));
  expect_refused({"train", "--model", "mlp", "--data", "arrays", "--batch", "4", "--image-size", "8", "--image-fit",
                  "crop", "--run", "r"},
                 {"--image-fit", "'crop'", "files of images"});
  expect_refused({"data", "pack", "--data", "arrays", "--image-size", "8", "--to", "p.trireme"},
                 {"--image-size", "files of images", "1x4x4"});
}

}  // namespace
}  // namespace trireme::cli_test
