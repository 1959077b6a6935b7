// Contact sheets: their size, what is drawn, and the labels.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

#include "data/helpers.h"
#include "data/readers/images/image_file.h"
#include "data/show/contact_sheet.h"
#include "data/show/label_font.h"
#include "data/show/picture.h"
#include "data/show/sheet_label.h"
#include "data/show/sheet_panel.h"

namespace trireme::data {
namespace {

// Every value of sample i is value(i), and one more with each epoch.
class PlainDataset : public Dataset {
 public:
  DataSpec its_spec;
  std::int64_t samples = 1;
  std::function<float(std::int64_t)> value = [](std::int64_t) { return 0.0f; };
  std::vector<float> target = {0};

  const DataSpec& spec() const override { return its_spec; }
  std::int64_t size() const override { return samples; }
  void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
             float* to) const override {
    const float drawn = value(index) + static_cast<float>(random.epoch);
    for (std::size_t i = 0; i < inputs.size(); ++i) std::fill_n(inputs[i], its_spec.inputs[i].count(), drawn);
    std::copy(target.begin(), target.end(), to);
  }
};

Image sheet(const Dataset& dataset, const SheetOptions& options = {}) {
  return decode_image(contact_sheet(dataset, options).png, "sheet");
}

PlainDataset images(tensor::Shape shape, std::int64_t samples) {
  PlainDataset dataset;
  dataset.its_spec = {{std::move(shape)}, TargetKind::classes, 10, {}};
  dataset.samples = samples;
  return dataset;
}

using Colours = std::set<std::array<int, 3>>;

Colours colours_of(const Image& image) {
  Colours colours;
  const auto area = static_cast<std::size_t>(image.rows * image.columns);
  for (std::size_t i = 0; i < area; ++i)
    colours.insert({image.pixels[i], image.pixels[area + i], image.pixels[2 * area + i]});
  return colours;
}

TEST(ContactSheet, IsAsLargeAsItsCells) {
  const PlainDataset dataset = images({1, 28, 28}, 1000);
  const Image whole = sheet(dataset);
  EXPECT_EQ(whole.colours, 3);
  EXPECT_GT(whole.columns, 8 * 28 * 4);
  EXPECT_LT(whole.columns, 8 * 28 * 6);
  EXPECT_GT(whole.rows, whole.columns);
  const Image one = sheet(dataset, {.columns = 1, .rows = 1});
  EXPECT_LT(one.columns, whole.columns / 6);
  EXPECT_EQ(sheet(images({1, 28, 28}, 8)).rows, one.rows);  // one row of them
  EXPECT_EQ(whole.pixels.front(), 255);
  EXPECT_EQ(whole.pixels.back(), 255);
}

TEST(ContactSheet, BytesAreShownAsTheyAre) {
  PlainDataset dataset = images({1, 4, 4}, 3);
  dataset.value = [](std::int64_t i) { return static_cast<float>(10 + 60 * i); };
  const Colours colours = colours_of(sheet(dataset));
  for (const int grey : {10, 70, 130}) EXPECT_TRUE(colours.contains({grey, grey, grey})) << grey;
}

TEST(ContactSheet, OtherValuesAreStretched) {
  PlainDataset dataset = images({1, 4, 4}, 3);
  dataset.value = [](std::int64_t i) { return static_cast<float>(i) - 1.5f; };
  Colours colours = colours_of(sheet(dataset));
  for (const int grey : {0, 128}) EXPECT_TRUE(colours.contains({grey, grey, grey})) << grey;
  colours = colours_of(sheet(dataset, {.range = SheetOptions::Range{-1.5f, 8.5f}}));
  for (const int grey : {0, 26, 51}) EXPECT_TRUE(colours.contains({grey, grey, grey})) << grey;
}

TEST(ContactSheet, StrangeValuesAndShapesAreDrawn) {
  PlainDataset dataset = images({3, 2, 1}, 2);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.5f,
                            std::numeric_limits<float>::lowest()}) {
    dataset.value = [value](std::int64_t i) { return i == 0 ? value : 3e38f; };
    for (const tensor::Shape& shape : {tensor::Shape{3, 2, 1},
                                       {1, 600, 900},
                                       {5, 3, 3},
                                       {100, 1, 1},
                                       {2, 50},
                                       {7},
                                       {1, 5000},
                                       {40, 1},
                                       {2, 2, 2, 2},
                                       {1, 1, 3000}}) {
      dataset.its_spec.inputs = {shape};
      EXPECT_GT(sheet(dataset).rows, 20) << shape.text();
    }
  }
}

TEST(ContactSheet, SeveralInputsAndChannelsStandSideBySide) {
  const Panel grey({1, 32, 32}), colour({3, 32, 32}), two({2, 32, 32}), many({64, 32, 32}), large({3, 600, 300});
  EXPECT_EQ(grey.width(), 96);
  EXPECT_EQ(colour.width(), 96);
  EXPECT_GT(two.width(), 2 * 96);
  EXPECT_EQ(many.pictures, 8);
  EXPECT_EQ(large.height(), 200);
  EXPECT_EQ(large.width(), 100);
  PlainDataset dataset = images({1, 32, 32}, 4);
  const std::int64_t single = sheet(dataset).columns;
  dataset.its_spec.inputs = {{1, 32, 32}, {1, 32, 32}};
  EXPECT_GT(sheet(dataset).columns, single + 4 * 90);
}

TEST(ContactSheet, LabelsChangeThePicture) {
  PlainDataset dataset = images({1, 28, 28}, 4);
  const Image zero = sheet(dataset);
  dataset.target = {7};
  EXPECT_NE(sheet(dataset).pixels, zero.pixels);
  dataset.its_spec.class_names = std::vector<std::string>(10, "0");
  EXPECT_EQ(sheet(dataset).pixels, zero.pixels);
  dataset.its_spec.class_names[7] = "a very long name that needs several lines";
  EXPECT_GT(sheet(dataset).rows, zero.rows);
}

TEST(ContactSheet, SamplesAreChosenEvenlyOrByIndex) {
  PlainDataset dataset = images({1, 4, 4}, 100);
  dataset.value = [](std::int64_t i) { return static_cast<float>(i + 40); };
  const auto has = [&](const SheetOptions& options, int grey) {
    return colours_of(sheet(dataset, options)).contains({grey, grey, grey});
  };
  EXPECT_TRUE(has({.columns = 2, .rows = 1}, 40));
  EXPECT_TRUE(has({.columns = 2, .rows = 1}, 139));
  EXPECT_TRUE(has({.indices = {57}}, 97));
  EXPECT_FALSE(has({.indices = {57}}, 40));
  expect_user_error([&] { contact_sheet(dataset, {.indices = {100}}); }, {"no sample 100", "99"});
  expect_user_error([&] { contact_sheet(dataset, {.columns = 0}); }, {"0 columns"});
  expect_user_error([&] { contact_sheet(images({1, 4, 4}, 0), {}); }, {"without samples"});
  const SheetOptions many{.columns = 64, .rows = 64};
  expect_user_error([&] { contact_sheet(images({1, 250, 250}, 4096), many); }, {"64 x 64 samples", "fewer"});
}

TEST(ContactSheet, ShowsWhatIsDrawnInAnEpoch) {
  PlainDataset dataset = images({1, 4, 4}, 4);
  SheetOptions options;
  const auto first = contact_sheet(dataset, options).png;
  EXPECT_EQ(contact_sheet(dataset, options).png, first);
  options.random.epoch = 90;
  EXPECT_NE(contact_sheet(dataset, options).png, first);
  EXPECT_TRUE(colours_of(sheet(dataset, options)).contains({90, 90, 90}));
}

TEST(SheetLabel, TextOfEveryTarget) {
  DataSpec spec{{}, TargetKind::classes, 3, {"cat", "dog", "owl"}};
  EXPECT_EQ(label_text(spec, std::vector<float>{2}), "owl");
  spec.target = TargetKind::labels;
  EXPECT_EQ(label_text(spec, std::vector<float>{1, 0, 1}), "cat, owl");
  EXPECT_EQ(label_text(spec, std::vector<float>{0, 0, 0}), "none");
  spec.class_names.clear();
  EXPECT_EQ(label_text(spec, std::vector<float>{0, 1, 1}), "1, 2");
  spec.target = TargetKind::values;
  EXPECT_EQ(label_text(spec, std::vector<float>{0.12345f, -3, 1e6f}), "0.123, -3, 1e+06");
  EXPECT_EQ(label_text(spec, std::vector<float>{349123, -1234.5f}), "349123, -1234.5");
}

TEST(ContactSheet, NamesOfAnyScriptAreDrawnOrSaid) {
  PlainDataset dataset = images({1, 28, 28}, 4);
  dataset.its_spec.class_names = std::vector<std::string>(10, "\u0441\u043e\u0431\u0430\u043a\u0430");
  EXPECT_TRUE(contact_sheet(dataset, {}).notes.empty()) << "DejaVu has Cyrillic";
  const Image cyrillic = sheet(dataset);
  dataset.its_spec.class_names[0] = "??????";
  EXPECT_NE(sheet(dataset).pixels, cyrillic.pixels);
  dataset.its_spec.class_names[0] = "\U000f0000";  // of private use: no font has it
  const ContactSheet lacking = contact_sheet(dataset, {});
  ASSERT_EQ(lacking.notes.size(), 1u);
  EXPECT_NE(lacking.notes[0].find("4 of 4 labels"), std::string::npos) << lacking.notes[0];
}

TEST(LabelFont, WhatNoFontHasBecomesItsNumber) {
  LabelFont font;
  for (const char* good : {"", "cat", "\u00c4pfel", "A\u0308pfel", "\u03b3\u03ac\u03c4\u03b1", "a b"}) {
    EXPECT_EQ(font.drawable(good).text, good);
    EXPECT_FALSE(font.drawable(good).lacks_font);
  }
  EXPECT_EQ(font.drawable("a\U000f0001\U000f0002 b").text, "a U+F0001 U+F0002 b");
  EXPECT_TRUE(font.drawable("\U000f0001").lacks_font);
  EXPECT_EQ(font.drawable("a\tb\nc\x7f").text, "a b c ");
  EXPECT_EQ(font.drawable("a\xff").text, "a\ufffd");  // names of files may be any bytes
}

TEST(LabelFont, LinesAreBrokenAndCut) {
  LabelFont font;
  const std::string words = "one two three four five six seven eight nine ten eleven twelve";
  const std::int64_t line = font.height("one", 100);
  EXPECT_GT(line, 8);
  EXPECT_LT(line, 30);
  EXPECT_EQ(font.height(words, font.width(words) + 2), line);
  EXPECT_NEAR(static_cast<double>(font.height(words, font.width(words) * 2 / 3)), static_cast<double>(2 * line), 2);
  EXPECT_NEAR(static_cast<double>(font.height(words, 80)), static_cast<double>(3 * line), 3) << "at most three";
  EXPECT_NEAR(static_cast<double>(font.height(std::string(100, 'W'), 80)), static_cast<double>(3 * line), 3);
  Picture picture(80, 10 * line);
  font.draw(picture, words, 0, 0, 80, {0, 0, 0});
  const Image drawn = decode_image(picture.png(), "picture");
  const auto inked_rows = [&](std::int64_t first, std::int64_t last) {
    return std::any_of(drawn.pixels.begin() + first * 80, drawn.pixels.begin() + last * 80,
                       [](std::uint8_t value) { return value < 128; });
  };
  EXPECT_TRUE(inked_rows(2 * line, 3 * line));
  EXPECT_FALSE(inked_rows(3 * line + 3, 10 * line));
}

TEST(Picture, PixelsFramesAndLinesLieWhereTheyAreSaid) {
  Picture picture(8, 7);
  picture.pixels(2, 2, {2, {{10, 20, 30}, {40, 50, 60}}}, 2);
  const Image drawn = decode_image(picture.png(), "picture");
  EXPECT_EQ(drawn.shape(), (tensor::Shape{3, 7, 8}));
  for (std::int64_t y = 0; y < 7; ++y)
    for (std::int64_t x = 0; x < 8; ++x) {
      const bool inside = y >= 2 && y < 4 && x >= 2 && x < 6;
      EXPECT_EQ(drawn.pixels[static_cast<std::size_t>(y * 8 + x)], !inside ? 255 : x < 4 ? 10 : 40) << y << " " << x;
    }
  Picture framed(5, 5);
  framed.frame({1, 1, 3, 3}, {0, 0, 0});
  const Image frame = decode_image(framed.png(), "picture");
  for (std::int64_t y = 0; y < 5; ++y)
    for (std::int64_t x = 0; x < 5; ++x)
      EXPECT_EQ(frame.pixels[static_cast<std::size_t>(y * 5 + x)], y % 4 == 0 || x % 4 == 0 ? 0 : 255) << y << " " << x;
  Picture lines(5, 5);
  const std::vector<Picture::Point> across = {{-3, 1}, {20, 1}}, dot = {{2, 3}};
  lines.line(across, {0, 0, 0});
  lines.line(dot, {0, 0, 0});
  lines.line({}, {0, 0, 0});
  const Image lined = decode_image(lines.png(), "picture");
  EXPECT_EQ(lined.pixels[5], 0);
  EXPECT_EQ(lined.pixels[9], 0);
  EXPECT_EQ(lined.pixels[0], 255);
  EXPECT_LT(lined.pixels[17], 128);
}

}  // namespace
}  // namespace trireme::data
