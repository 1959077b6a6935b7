// Contact sheets: their size, what is drawn, and the labels.
#include <cstdlib>
#include <limits>
#include <set>

#include "data/helpers.h"
#include "data/readers/images/image_file.h"
#include "data/show/canvas.h"
#include "data/show/contact_sheet.h"
#include "data/show/glyphs.h"
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
  return decode_image(contact_sheet(dataset, options), "sheet");
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
  const auto first = contact_sheet(dataset, options);
  EXPECT_EQ(contact_sheet(dataset, options), first);
  options.random.epoch = 90;
  EXPECT_NE(contact_sheet(dataset, options), first);
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
}

TEST(SheetLabel, LinesAreBrokenAtSigns) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(label_lines("Ankle boot", 10, 2), (Lines{"Ankle boot"}));
  EXPECT_EQ(label_lines("Ankle boot", 8, 2), (Lines{"Ankle", "boot"}));
  EXPECT_EQ(label_lines("T-shirt/top", 8, 2), (Lines{"T-shirt/", "top"}));
  EXPECT_EQ(label_lines("abcdefghijklmnop", 6, 2), (Lines{"abcdef", "ghij.."}));
  EXPECT_EQ(label_lines("gr\xc3\xbcn\n", 10, 1), (Lines{"gr?n"}));
  EXPECT_TRUE(label_lines("", 10, 1).empty());
}

TEST(Glyphs, AreAllDifferentAndOfFiveBits) {
  std::set<std::vector<unsigned>> seen;
  for (char c = ' '; c <= '~'; ++c) {
    std::vector<unsigned> rows;
    for (int row = 0; row < kGlyphHeight; ++row) {
      rows.push_back(glyph_row(c, row));
      EXPECT_LT(rows.back(), 32u) << c;
    }
    EXPECT_TRUE(seen.insert(rows).second) << c;
  }
  EXPECT_EQ(glyph_row('\t', 0), glyph_row('?', 0));
}

TEST(Canvas, NothingIsDrawnOutside) {
  Canvas canvas(4, 3);
  canvas.fill({-5, -5, 7, 7}, {1, 2, 3});
  canvas.text(2, 1, "Hg", 3, {0, 0, 0});
  canvas.line(-3, 9, 20, -4, {9, 9, 9});
  canvas.frame({0, 0, 4, 3}, {5, 5, 5});
  EXPECT_EQ(canvas.image().pixels[0], 1);
  EXPECT_EQ(Canvas::text_width(2, 2), 22);
}

}  // namespace
}  // namespace trireme::data
