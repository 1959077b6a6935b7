// Augmentations of whole images, resized crop and colour jitter, against their definitions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "data/stages/colour_jitter.h"
#include "data/stages/prepare.h"
#include "data/stages/resized_crop.h"

namespace trireme::data {
namespace {

DatasetPtr patterned_bytes(const tensor::Shape& shape) {
  Bytes pixels;
  for (std::int64_t i = 0; i < shape.count(); ++i) pixels.push_back(static_cast<std::uint8_t>(i * i * 31 + i / 7));
  DataSpec spec;
  spec.inputs = {shape};
  spec.classes = 1;
  return image_source(spec, pixels, {0});
}

DatasetPtr patterned_floats(const tensor::Shape& shape) {
  return std::make_shared<CountingDataset>(std::vector<tensor::Shape>{shape}, 1);
}

TEST(ResizedCrop, TheWholeWindowIsTheImage) {
  for (const auto& source : {patterned_bytes({3, 9, 13}), patterned_floats({2, 5, 4})})
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch)
      EXPECT_EQ(fetch_sample(*augment(source, "random-resized-crop=1:1"), 0, {3, epoch}).inputs,
                fetch_sample(*source, 0).inputs);
}

TEST(ResizedCrop, TheWindowIsEnlargedBilinearly) {
  const std::int64_t height = 7, width = 9;
  const auto source = patterned_bytes({2, height, width});
  const std::vector<float> image = fetch_sample(*source, 0).inputs[0];
  const Augmentation half = parse_augmentation("random-resized-crop=0.2:2");
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const Window window = draw_change(half, {1, epoch}, 0, height, width).window;
    const std::vector<float> got = fetch_sample(*prepare(source, half, {}), 0, {1, epoch}).inputs[0];
    const auto share = [](std::int64_t in, std::int64_t out, std::int64_t at, std::int64_t k) {
      const double place =
          std::max(0.0, (static_cast<double>(at) + 0.5) * static_cast<double>(in) / static_cast<double>(out) - 0.5);
      return std::max(0.0, 1 - std::abs(std::min(place, static_cast<double>(in - 1)) - static_cast<double>(k)));
    };
    for (std::int64_t c = 0; c < 2; ++c)
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x) {
          double expected = 0;
          for (std::int64_t wy = 0; wy < window.rows; ++wy)
            for (std::int64_t wx = 0; wx < window.columns; ++wx)
              expected +=
                  share(window.rows, height, y, wy) * share(window.columns, width, x, wx) *
                  static_cast<double>(
                      image[static_cast<std::size_t>((c * height + window.top + wy) * width + window.left + wx)]);
          EXPECT_NEAR(got[static_cast<std::size_t>((c * height + y) * width + x)], expected, 1e-3);
        }
  }
}

TEST(ResizedCrop, WindowsLieInsideAndHaveTheAreasAndRatiosAskedFor) {
  const Augmentation augmentation = parse_augmentation("random-resized-crop=0.25:1.5");
  double least_area = 1, most_area = 0, least_ratio = 9, most_ratio = 0;
  bool at_top = false, at_bottom = false, at_left = false, at_right = false;
  for (std::uint64_t epoch = 0; epoch < 4000; ++epoch) {
    const Window w = draw_change(augmentation, {7, epoch}, 5, 400, 200).window;
    ASSERT_TRUE(w.top >= 0 && w.left >= 0 && w.top + w.rows <= 400 && w.left + w.columns <= 200) << epoch;
    const double rows = static_cast<double>(w.rows) / 400, columns = static_cast<double>(w.columns) / 200;
    least_area = std::min(least_area, rows * columns), most_area = std::max(most_area, rows * columns);
    least_ratio = std::min(least_ratio, columns / rows), most_ratio = std::max(most_ratio, columns / rows);
    at_top |= w.top<4, at_bottom |= w.top + w.rows> 396;
    at_left |= w.left<2, at_right |= w.left + w.columns> 198;
  }
  EXPECT_NEAR(least_area, 0.25, 0.01);
  EXPECT_GT(most_area, 0.95);
  EXPECT_NEAR(least_ratio, 1 / 1.5, 0.01);
  EXPECT_NEAR(most_ratio, 1.5, 0.02);
  EXPECT_TRUE(at_top && at_bottom && at_left && at_right);
}

std::vector<float> coloured(const ColourChange& change, std::vector<float> values, std::int64_t channels = 3,
                            float most = std::numeric_limits<float>::infinity()) {
  change_colours(change, most, channels, static_cast<std::int64_t>(values.size()) / channels, values.data());
  return values;
}

// Luma of pixel i of a few.
double luma_of(const std::vector<float>& values, std::size_t i) {
  const std::size_t pixels = values.size() / 3;
  return 0.299 * static_cast<double>(values[i]) + 0.587 * static_cast<double>(values[pixels + i]) +
         0.114 * static_cast<double>(values[2 * pixels + i]);
}

const std::vector<float> kSome = {10, 200, 77, 0, 255, 30, 100, 77, 255, 3, 60, 20, 77, 0, 4};  // five pixels

TEST(ColourJitter, NoChangeIsTheImage) {
  EXPECT_EQ(coloured({}, kSome), kSome);
  ColourChange none;
  none.hue_cosine = 1, none.saturation = 1;
  EXPECT_EQ(coloured(none, kSome), kSome);
}

TEST(ColourJitter, BrightnessAndContrastFollowTheirFormula) {
  ColourChange brighter;
  brighter.brightness = 1.5f;
  ColourChange flatter;
  flatter.contrast = 0.5f;
  double mean = 0;
  for (std::size_t i = 0; i < 5; ++i) mean += luma_of(kSome, i) / 5;
  const std::vector<float> bright = coloured(brighter, kSome), flat = coloured(flatter, kSome);
  for (std::size_t k = 0; k < kSome.size(); ++k) {
    EXPECT_EQ(bright[k], kSome[k] * 1.5f);
    EXPECT_NEAR(flat[k], mean + 0.5 * (static_cast<double>(kSome[k]) - mean), 1e-4);
    EXPECT_EQ(coloured(brighter, kSome, 3, 255)[k], std::min(bright[k], 255.0f));
  }
  ColourChange darker;
  darker.contrast = 2;
  const std::vector<float> clamped = coloured(darker, kSome, 3, 255);
  EXPECT_EQ(*std::ranges::min_element(clamped), 0);
  EXPECT_EQ(*std::ranges::max_element(clamped), 255);
  EXPECT_EQ(coloured(flatter, {0, 10, 20, 50}, 1), (std::vector<float>{10, 15, 20, 35}));
}

TEST(ColourJitter, SaturationAndHueKeepLumaAndGrey) {
  for (const double turns : {0.0, 0.1, -0.3, 0.5})
    for (const float saturation : {0.0f, 0.5f, 1.0f, 1.8f}) {
      ColourChange change;
      change.saturation = saturation;
      change.hue_cosine = static_cast<float>(std::cos(2 * 3.14159265358979 * turns));
      change.hue_sine = static_cast<float>(std::sin(2 * 3.14159265358979 * turns));
      const std::vector<float> got = coloured(change, kSome);
      for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(luma_of(got, i), luma_of(kSome, i), 1e-3);
      for (const std::size_t k : {2, 7, 12}) EXPECT_NEAR(got[k], 77, 1e-3) << "a grey pixel";
      for (std::size_t k = 0; k < kSome.size(); ++k) {
        const double luma = luma_of(kSome, k % 5), rest = static_cast<double>(kSome[k]) - luma;
        if (turns != 0 && turns != 0.5) continue;
        EXPECT_NEAR(got[k], luma + (turns == 0 ? 1 : -1) * static_cast<double>(saturation) * rest, 1e-3);
      }
    }
}

TEST(ColourJitter, HueTurnsUAndV) {
  ColourChange quarter;
  quarter.hue_cosine = 0;
  quarter.hue_sine = 1;
  const std::vector<float> got = coloured(quarter, kSome);
  const auto u = [](const std::vector<float>& v, std::size_t i) {
    return 0.492 * (static_cast<double>(v[10 + i]) - luma_of(v, i));
  };
  const auto v = [](const std::vector<float>& w, std::size_t i) {
    return 0.877 * (static_cast<double>(w[i]) - luma_of(w, i));
  };
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(u(got, i), -v(kSome, i), 1e-3);
    EXPECT_NEAR(v(got, i), u(kSome, i), 1e-3);
  }
}

TEST(ColourJitter, DrawsLieInTheirRanges) {
  const Augmentation augmentation = parse_augmentation("colour-jitter=0.5:0.2:0.8:0.25");
  float least = 9, most = 0, least_hue = 9;
  for (std::uint64_t epoch = 0; epoch < 3000; ++epoch) {
    const ColourChange change = draw_change(augmentation, {7, epoch}, 5, 4, 4).colours;
    least = std::min(least, change.brightness), most = std::max(most, change.brightness);
    least_hue = std::min(least_hue, change.hue_cosine);
    EXPECT_TRUE(change.contrast >= 0.8f && change.contrast <= 1.2f) << change.contrast;
    EXPECT_TRUE(change.saturation >= 0.19f && change.saturation <= 1.81f) << change.saturation;
    EXPECT_NEAR(change.hue_cosine * change.hue_cosine + change.hue_sine * change.hue_sine, 1, 1e-6);
  }
  EXPECT_NEAR(least, 0.5, 0.01);
  EXPECT_NEAR(most, 1.5, 0.01);
  EXPECT_NEAR(least_hue, 0, 0.01) << "a quarter turn at most";
}

TEST(WholeImage, OtherDrawsStayAndAllDependOnSeedEpochAndIndexAlone) {
  const Augmentation before = parse_augmentation("crop=3,flip,rotate=9,brightness,cutout=3");
  const Augmentation after =
      parse_augmentation("crop=3,flip,rotate=9,brightness,cutout=3,random-resized-crop,colour-jitter");
  for (std::uint64_t epoch = 0; epoch < 100; ++epoch) {
    const Change a = draw_change(before, {1, epoch}, 4, 20, 30), b = draw_change(after, {1, epoch}, 4, 20, 30);
    EXPECT_TRUE(a.down == b.down && a.right == b.right && a.flip == b.flip && a.cosine == b.cosine &&
                a.gain == b.gain && a.cut_top == b.cut_top && a.cut_left == b.cut_left);
  }
  const DatasetPtr augmented = prepare(patterned_bytes({3, 16, 16}), after, {});
  const Sample here = fetch_sample(*augmented, 0, {1, 2});
  Sample there;
  std::thread([&] { there = fetch_sample(*augmented, 0, {1, 2}); }).join();
  EXPECT_EQ(here.inputs, there.inputs);
  EXPECT_NE(fetch_sample(*augmented, 0, {1, 3}).inputs, here.inputs);
  EXPECT_NE(fetch_sample(*augmented, 0, {2, 2}).inputs, here.inputs);
}

TEST(WholeImage, CutoutIsBlackWhateverTheContrast) {
  DataSpec spec;
  spec.inputs = {tensor::Shape{3, 8, 8}};
  spec.classes = 1;
  const auto grey = image_source(spec, Bytes(192, 100), {0});
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<float> image =
        fetch_sample(*augment(grey, "colour-jitter=0.9,cutout=4"), 0, {1, epoch}).inputs[0];
    const auto black = std::ranges::count(image, 0.0f);
    EXPECT_GE(black, 3 * 4);
    EXPECT_LE(black, 3 * 16);
  }
}

TEST(WholeImage, BytesStayBetween0And255) {
  const DatasetPtr wild = augment(patterned_bytes({3, 12, 12}), "colour-jitter=1:1:1:0.5,brightness=1");
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const Sample sample = fetch_sample(*wild, 0, {1, epoch});
    for (const float v : sample.inputs[0]) ASSERT_TRUE(v >= 0 && v <= 255) << v;
  }
}

}  // namespace
}  // namespace trireme::data
