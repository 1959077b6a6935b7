// Folders of images: classes, splits, sizes, and everything that can be wrong with them.
#include <fmt/format.h>
#include <sys/stat.h>

#include "data/dataset/columns.h"
#include "data/open_data.h"
#include "data/readers/images/image_folder.h"
#include "data/readers/images/image_helpers.h"
#include "data/readers/images/image_list.h"
#include "support/as_nobody.h"

namespace trireme::data {
namespace {

class ImageFolder : public ::testing::Test {
 protected:
  void put(const std::string& name, const Bytes& bytes) { write_bytes(root() / name, bytes); }
  // A grey image whose values tell which one it is.
  void put_image(const std::string& name, std::uint8_t value, std::int64_t rows = 2, std::int64_t columns = 3) {
    put(name, plain_png(rows, columns, {value}));
  }
  DataPair open(DataRequest request = {}) {
    request.name = root().string();
    return open_dataset(request);
  }
  void expect_error(const std::vector<std::string>& parts, const DataRequest& request = {}) {
    expect_user_error([&] { open(request); }, parts);
  }
  const fs::path& root() const { return folder_.path(); }
  TempFolder folder_;
};

// The first value and the label of each sample.
std::vector<std::pair<int, int>> content(const Dataset& dataset) {
  std::vector<std::pair<int, int>> all;
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    const Sample sample = fetch_sample(dataset, i);
    all.emplace_back(static_cast<int>(sample.inputs[0][0]), static_cast<int>(sample.target[0]));
  }
  return all;
}

bool has_note(const DataPair& pair, const std::string& part) {
  for (const std::string& note : pair.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

using Content = std::vector<std::pair<int, int>>;

TEST(NaturalOrder, NumbersCountAsNumbers) {
  const std::vector<std::string> sorted = {"",
                                           "1",
                                           "01",
                                           "1a",
                                           "2",
                                           "10",
                                           "a",
                                           "a2b",
                                           "a10",
                                           "a10b",
                                           "b",
                                           "x99999999999999999999998",
                                           "x99999999999999999999999"};
  for (std::size_t i = 0; i < sorted.size(); ++i)
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      if (sorted[i] == "1" || sorted[k] == "1") continue;  // beside "01"
      EXPECT_EQ(natural_less(sorted[i], sorted[k]), i < k) << sorted[i] << " " << sorted[k];
    }
  EXPECT_NE(natural_less("1", "01"), natural_less("01", "1"));
}

TEST_F(ImageFolder, TrainAndTest) {
  put_image("train/9/b.png", 1);
  put_image("train/10/img10.PNG", 2);
  put_image("train/10/img9.png", 3);
  put("train/10/z.JPEG", make_jpeg(3, 2, JCS_GRAYSCALE, Bytes(6, 100)));
  put_image("test/10/a.png", 5);
  const DataPair pair = open();
  EXPECT_EQ(pair.train->spec().class_names, (std::vector<std::string>{"9", "10"}));
  EXPECT_EQ(pair.train->spec().classes, 2);
  EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{1, 2, 3}}));
  EXPECT_EQ(content(*pair.train), (Content{{1, 0}, {3, 1}, {2, 1}, {100, 1}}));
  EXPECT_EQ(content(*pair.test), (Content{{5, 1}}));
  EXPECT_TRUE(pair.notes.empty());
  ASSERT_TRUE(pair.train->columns());
  EXPECT_EQ(pair.train->columns()->inputs[0].type, ValueType::byte);
}

TEST_F(ImageFolder, ValServesAsTest) {
  put_image("train/a/1.png", 1);
  put_image("val/a/1.png", 2);
  EXPECT_EQ(content(*open().test), (Content{{2, 0}}));
  put_image("test/a/1.png", 3);
  const DataPair pair = open();
  EXPECT_EQ(content(*pair.test), (Content{{3, 0}}));
  EXPECT_TRUE(has_note(pair, "val is not used"));
}

TEST_F(ImageFolder, WithoutATestFolderPartOfItServes) {
  for (int i = 0; i < 10; ++i) put_image(fmt::format("{}/{}.png", i % 2 ? "cat" : "dog", i), 7);
  const DataPair pair = open();
  EXPECT_EQ(pair.train->size(), 8);
  EXPECT_EQ(pair.test->size(), 2);
  EXPECT_TRUE(has_note(pair, "no test set"));
  EXPECT_EQ(pair.test->spec().class_names, (std::vector<std::string>{"cat", "dog"}));
}

TEST_F(ImageFolder, TrainMayBeAClass) {
  for (int i = 0; i < 5; ++i) {
    put_image(fmt::format("train/{}.png", i), 7);
    put_image(fmt::format("bus/{}.png", i), 7);
  }
  EXPECT_EQ(open().train->spec().class_names, (std::vector<std::string>{"bus", "train"}));
}

TEST_F(ImageFolder, OtherFilesAreCounted) {
  put_image("train/a/1.png", 1);
  put_image("train/a/deep/er/2.png", 2);
  put_image("train/a/.hidden.png", 3);
  put_image("train/a/.cache/4.png", 4);
  put("train/a/notes.txt", {1});
  put("train/Thumbs.db", {1});
  put_image("test/a/1.png", 5);
  ASSERT_EQ(::mkfifo((root() / "train/a/pipe.png").c_str(), 0600), 0);
  const DataPair pair = open();
  EXPECT_EQ(content(*pair.train), (Content{{1, 0}, {2, 0}}));
  EXPECT_TRUE(has_note(pair, "5 files"));
}

TEST_F(ImageFolder, ImagesBecomeWhatTheNetworkTakes) {
  put_image("train/a/1.png", 10, 4, 6);
  put("train/b/2.png", plain_png(2, 2, {255, 0, 0}));
  put_image("test/a/1.png", 30);
  DataRequest request;
  request.wanted_inputs = {{3, 2, 2}};
  DataPair pair = open(request);
  EXPECT_EQ(pair.train->spec().inputs, request.wanted_inputs);
  EXPECT_EQ(fetch_sample(*pair.train, 0).inputs[0], std::vector<float>(12, 10));
  EXPECT_EQ(fetch_sample(*pair.train, 1).inputs[0], (std::vector<float>{255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(has_note(pair, "2 of 3 images resized to 2x2"));
  request.wanted_inputs = {{1, 1, 1}};
  pair = open(request);
  EXPECT_EQ(content(*pair.train), (Content{{10, 0}, {76, 1}}));
  request.wanted_inputs = {{4, 2, 2}};
  expect_error({root().string(), "1 or 3 colours", "4x2x2"}, request);
}

TEST_F(ImageFolder, WithoutAWantedShapeOneSizeIsKeptAndColoursAreMadeEqual) {
  put_image("train/a/1.png", 10);
  put("train/b/2.png", plain_png(2, 3, {1, 2, 3}));
  put_image("test/a/3.png", 30);
  DataRequest request;
  request.wanted_inputs = {{2, 100}};  // no image
  const DataPair pair = open(request);
  EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{3, 2, 3}}));
  EXPECT_EQ(fetch_sample(*pair.train, 0).inputs[0], std::vector<float>(18, 10));
  ASSERT_TRUE(pair.images);
  EXPECT_FALSE(pair.images->size);
}

TEST_F(ImageFolder, DifferentSizesBecomeOneThatIsSaid) {
  put_image("train/a/1.png", 10, 40, 90);
  put_image("train/b/2.png", 20, 70, 50);
  put_image("test/a/3.png", 30, 200, 300);
  DataPair pair = open();  // the median of 40, 50 and 200, rounded down
  EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{1, 48, 48}}));
  ASSERT_TRUE(pair.images);
  EXPECT_EQ(pair.images->size, (ImageSize{48, 48}));
  EXPECT_TRUE(has_note(pair, "different sizes"));
  EXPECT_TRUE(has_note(pair, "48x48"));
  EXPECT_EQ(content(*pair.test), (Content{{30, 0}}));
  DataRequest request;
  request.images.size = ImageSize{5, 7};
  pair = open(request);
  EXPECT_EQ(pair.test->spec().inputs, (std::vector<tensor::Shape>{{1, 5, 7}}));
}

TEST_F(ImageFolder, ImagesAreTurnedUprightUnlessAskedNotTo) {
  put("train/a/1.jpg", with_exif(make_jpeg(3, 2, JCS_GRAYSCALE, Bytes(6, 100)), make_tiff(6, true)));
  put_image("train/a/2.png", 7, 3, 2);
  put_image("test/a/3.png", 7, 3, 2);
  DataPair pair = open();
  EXPECT_EQ(pair.train->spec().inputs, (std::vector<tensor::Shape>{{1, 3, 2}}));
  EXPECT_TRUE(has_note(pair, "1 of 3 images turned upright"));
  DataRequest request;
  request.images.turn_upright = false;
  request.images.size = ImageSize{3, 2};
  pair = open(request);
  EXPECT_FALSE(has_note(pair, "turned"));
  EXPECT_TRUE(has_note(pair, "1 of 3 images resized"));
}

TEST_F(ImageFolder, WhatWasDoneToImagesIsCounted) {
  put("train/a/1.png", make_png(1, {{200, 128}}, {.colour_type = PNG_COLOR_TYPE_GRAY_ALPHA}));
  put("train/a/2.png", make_png(1, {{0, 200}}, {.colour_type = PNG_COLOR_TYPE_GRAY, .bits = 16}));
  put("train/a/3.jpg", make_jpeg(1, 1, JCS_CMYK, {255, 128, 0, 255}));
  put_image("test/a/4.png", 7, 1, 1);
  const DataPair pair = open();
  for (const char* note : {"1 of 4 images transparent, laid on black", "1 of 4 images of 16 bits", "1 of 4 images CMYK",
                           "3 of 4 images grey, repeated"})
    EXPECT_TRUE(has_note(pair, note)) << note;
}

TEST_F(ImageFolder, NamesMayBeOfAnyScript) {
  const std::vector<std::string> names{"A\u0308pfel", "\u00c4pfel", "\u0441\u043e\u0431\u0430\u043a\u0430",
                                       "\u732b"};  // in two normal forms; in the order of their bytes
  for (const std::string& name : names) {
    put_image("train/" + name + "/" + name + "1.png", 1);
    put_image("test/" + name + "/\U0001f600.png", 2);
  }
  const DataPair pair = open();
  EXPECT_EQ(pair.train->spec().class_names, names);
  EXPECT_EQ(pair.test->origin(3), (root() / "test" / names[3] / "\U0001f600.png").string());
}

TEST_F(ImageFolder, BadImagesAreNamedOrLeftOut) {
  for (int i = 0; i < 40; ++i) put_image(fmt::format("train/a/{}.png", i), static_cast<std::uint8_t>(i));
  put_image("test/a/1.png", 30);
  for (const char* name : {"train/a/0.png", "train/a/7.png", "train/a/30.png"}) put(name, {1, 2, 3});
  fs::create_symlink("nowhere.png", root() / "train/a/50.png");
  expect_error({"train/a/0.png", "01 02 03"});
  DataRequest request;
  request.skip_bad = true;
  const DataPair pair = open(request);
  ASSERT_EQ(pair.train->size(), 37);
  EXPECT_EQ(content(*pair.train)[5].first, 6);
  EXPECT_EQ(content(*pair.train)[6].first, 8);
  EXPECT_EQ(content(*pair.train)[36].first, 39);
  EXPECT_EQ(content(*pair.test), (Content{{30, 0}}));
  EXPECT_TRUE(has_note(pair, "4 of 42 images"));
  EXPECT_TRUE(has_note(pair, "train/a/0.png"));
  put("train/b/1.png", {1});
  expect_error({"class 'b'"}, request);
  put_image("train/b/1.png", 1);
  put("test/a/1.png", {1});
  expect_error({"test set"}, request);
  fs::remove_all(root() / "train/a");
  put("train/a/1.png", {1});
  put("train/b/1.png", {1});
  expect_error({"none of the 3 images"}, request);
}

TEST_F(ImageFolder, WrongFoldersAreNamed) {
  fs::create_directories(root());
  expect_error({root().string(), "no images"});
  fs::create_directories(root() / "a");
  expect_error({(root() / "a").string(), "has no images"});
  put_image("a/1.png", 1);
  put_image("stray.jpg", 1);
  expect_error({"stray.jpg", "directly", "one per class"});
  fs::remove(root() / "stray.jpg");
  put_image("train/a/1.png", 1);
  put_image("test/1.png", 1);
  expect_error({"1.png", (root() / "test").string(), "directly"});
  fs::remove(root() / "test/1.png");
  put_image("test/c/1.png", 1);
  expect_error({(root() / "test/c").string(), "no counterpart"});
}

TEST_F(ImageFolder, LinksDoNotLoop) {
  for (int i = 0; i < 5; ++i) put_image(fmt::format("a/{}.png", i), 1);
  fs::create_directory_symlink("..", root() / "a/up");
  fs::create_directory_symlink("self", root() / "self");
  fs::create_symlink("self.png", root() / "a/.self.png");
  EXPECT_EQ(open().train->spec().class_names, std::vector<std::string>{"a"});
  fs::create_directory_symlink("a", root() / "b");  // a class may be a link
  EXPECT_EQ(open().train->spec().class_names, (std::vector<std::string>{"a", "b"}));
  fs::create_directory_symlink(".", root() / "loop");
  expect_error({(root() / "loop").string(), "contains it"});
}

TEST_F(ImageFolder, UnreadableFoldersAndFilesAreNamed) {
  put_image("a/1.png", 1);
  test::as_nobody(root(), [&] {
    fs::permissions(root() / "a/1.png", fs::perms::none);
    expect_error({(root() / "a/1.png").string(), "cannot read"});
    fs::permissions(root() / "a", fs::perms::none);
    expect_error({(root() / "a").string(), "cannot read"});
    fs::permissions(root() / "a", fs::perms::owner_all);
  });
}

TEST_F(ImageFolder, TooMuchForMemoryIsRefusedWithTheNeed) {
  for (int i = 0; i < 100; ++i) put_image(fmt::format("a/{}.png", i), 1);
  DataRequest request;
  request.wanted_inputs = {{3, 8192, 8192}};
  expect_error({"100 images", "3x8192x8192", "GB"}, request);
}

TEST_F(ImageFolder, ManyClassesHaveTheirNumbers) {
  for (int i = 0; i < 300; ++i) put_image(fmt::format("train/c{}/1.png", i), 1);
  put_image("test/c299/1.png", 2);
  const DataPair pair = open();
  EXPECT_EQ(pair.train->spec().classes, 300);
  EXPECT_EQ(content(*pair.test), (Content{{2, 299}}));
}

}  // namespace
}  // namespace trireme::data
