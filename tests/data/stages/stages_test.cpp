// Augmentation, normalisation, resizing: each against its definition, written out plainly here.
#include <cmath>
#include <set>
#include <thread>

#include "base/cpu/simd.h"
#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "data/stages/prepare.h"
#include "data/stages/resize.h"

namespace trireme::data {
namespace {

using Shapes = std::vector<tensor::Shape>;

DatasetPtr counting(Shapes shapes, std::int64_t samples = 10) {
  return std::make_shared<CountingDataset>(std::move(shapes), samples);
}

DatasetPtr bytes_source(const tensor::Shape& shape, std::int64_t samples) {
  Bytes pixels, labels;
  for (std::int64_t i = 0; i < samples * shape.count(); ++i)
    pixels.push_back(static_cast<std::uint8_t>(i * i * 31 + i / 7));
  for (std::int64_t i = 0; i < samples; ++i) labels.push_back(static_cast<std::uint8_t>(i % 3));
  DataSpec spec;
  spec.inputs = {shape};
  spec.classes = 3;
  return image_source(spec, pixels, labels);
}

// value -> (value - mean) / divisor, as prepare() computes it.
float normal(float value, float mean, float divisor) {
  return (value - mean) * static_cast<float>(1.0 / static_cast<double>(divisor));
}

// What a padded, cropped and perhaps mirrored image is, pixel by pixel.
std::vector<float> moved(const std::vector<float>& image, const tensor::Shape& shape, std::int64_t down,
                         std::int64_t right, bool flip) {
  std::vector<float> result;
  for (std::int64_t c = 0; c < shape[0]; ++c)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        const std::int64_t from_y = y + down, from_x = (flip ? shape[2] - 1 - x : x) + right;
        const bool inside = from_y >= 0 && from_y < shape[1] && from_x >= 0 && from_x < shape[2];
        result.push_back(inside ? image[static_cast<std::size_t>((c * shape[1] + from_y) * shape[2] + from_x)] : 0.0f);
      }
  return result;
}

TEST(Augment, EveryCropAndFlipIsOneOfThePossibleOnesAndAllOccur) {
  const tensor::Shape shape{2, 5, 4};
  const auto source = counting({shape}, 3);
  const DatasetPtr augmented = augment(source, "crop=2,flip");
  for (std::int64_t index = 1; index < 3; ++index) {
    const std::vector<float> original = fetch_sample(*source, index).inputs[0];
    std::set<std::tuple<std::int64_t, std::int64_t, bool>> seen;
    for (std::uint64_t epoch = 0; epoch < 1000; ++epoch) {
      const Sample sample = fetch_sample(*augmented, index, {9, epoch});
      EXPECT_EQ(sample.target[0], static_cast<float>(index));
      int matches = 0;
      for (std::int64_t down = -2; down <= 2; ++down)
        for (std::int64_t right = -2; right <= 2; ++right)
          for (const bool flip : {false, true})
            if (moved(original, shape, down, right, flip) == sample.inputs[0]) {
              ++matches;
              seen.insert({down, right, flip});
            }
      ASSERT_EQ(matches, 1) << epoch;
    }
    EXPECT_EQ(seen.size(), 50u);
  }
}

TEST(Augment, IsAPureFunctionOfSeedEpochAndIndex) {
  const DatasetPtr augmented = augment(counting({{1, 8, 8}}), "crop,flip");
  const Sample here = fetch_sample(*augmented, 3, {1, 2});
  Sample there;
  std::thread([&] { there = fetch_sample(*augmented, 3, {1, 2}); }).join();
  EXPECT_EQ(here.inputs, there.inputs);
  int differ = 0;
  for (std::uint64_t k = 3; k < 23; ++k) {
    differ += fetch_sample(*augmented, 3, {1, k}).inputs != here.inputs;
    differ += fetch_sample(*augmented, 3, {k, 2}).inputs != here.inputs;
  }
  EXPECT_GT(differ, 35);
}

TEST(Augment, InputsOfASampleMoveTogether) {
  const DatasetPtr augmented = augment(counting({{1, 6, 6}, {2, 6, 6}}, 3), "crop=1,flip");
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const Sample sample = fetch_sample(*augmented, 2, {0, epoch});
    for (std::size_t k = 0; k < 36; ++k) {
      const float a = sample.inputs[0][k], b = sample.inputs[1][k];
      EXPECT_EQ(b, a == 0.0f ? 0.0f : a + 0.25f);
    }
  }
}

TEST(Augment, NestsAndPadsBeyondTheImage) {
  const auto source = counting({{1, 3, 3}}, 2);
  const DatasetPtr far = augment(source, "crop=50");
  int black = 0;
  for (std::uint64_t epoch = 0; epoch < 100; ++epoch)
    black += fetch_sample(*far, 1, {0, epoch}).inputs[0] == std::vector<float>(9, 0.0f);
  EXPECT_GT(black, 80);
  const DatasetPtr twice = augment(augment(source, "flip"), "flip");  // the same draw twice cancels
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch)
    EXPECT_EQ(fetch_sample(*twice, 1, {0, epoch}).inputs, fetch_sample(*source, 1).inputs);
}

TEST(Augment, ReadsItsText) {
  EXPECT_EQ(parse_augmentation("crop").pad, 4);
  EXPECT_FALSE(parse_augmentation("crop").flip);
  EXPECT_EQ(parse_augmentation("flip,crop=2").pad, 2);
  EXPECT_TRUE(parse_augmentation("flip,crop=2").flip);
  const auto source = counting({{1, 2, 2}});
  EXPECT_EQ(augment(source, ""), source);
  EXPECT_EQ(augment(source, "none"), source);
  expect_user_error([] { parse_augmentation("crop,flop"); }, {"flop", "did you mean 'flip'"});
  expect_user_error([] { parse_augmentation("crop,"); }, {"augmentation"});
  expect_user_error([] { parse_augmentation("crop,crop=2"); }, {"twice"});
  expect_user_error([] { parse_augmentation("crop=x"); }, {"x"});
  expect_user_error([] { parse_augmentation("crop=0"); }, {"crop=0"});
  EXPECT_EQ(parse_augmentation("rotate=7.5,cutout").degrees, 7.5);
  EXPECT_EQ(parse_augmentation("rotate=7.5,cutout").cutout, 8);
  EXPECT_EQ(parse_augmentation("brightness").brightness, 0.2);
  expect_user_error([] { parse_augmentation("rotate=181"); }, {"rotate=181", "180 degrees"});
  expect_user_error([] { parse_augmentation("brightness=nan"); }, {"brightness"});
  expect_user_error([] { parse_augmentation("cutout=-1"); }, {"cutout=-1"});
  expect_user_error([] { parse_augmentation("flip=1"); }, {"flip", "no value"});
  EXPECT_EQ(parse_augmentation("random-resized-crop").least_area, 0.08);
  EXPECT_EQ(parse_augmentation("random-resized-crop=0.5:2").most_ratio, 2);
  EXPECT_EQ(parse_augmentation("colour-jitter=0.4").jitter, (Augmentation::Jitter{0.4, 0.4, 0.4, 0.1}));
  EXPECT_EQ(parse_augmentation("colour-jitter=0.1:0:1:0.5").jitter, (Augmentation::Jitter{0.1, 0, 1, 0.5}));
  expect_user_error([] { parse_augmentation("random-resized-crop=0"); }, {"random-resized-crop=0", "0.01 ... 1"});
  expect_user_error([] { parse_augmentation("random-resized-crop=0.5:0.5"); }, {"number 2", "1 ... 10"});
  expect_user_error([] { parse_augmentation("random-resized-crop=1:1:1"); }, {"3 numbers", "at most 2"});
  expect_user_error([] { parse_augmentation("colour-jitter=0.1:0.2"); }, {"2 numbers", "expected one"});
  expect_user_error([] { parse_augmentation("colour-jitter=0"); }, {"changes nothing"});
  expect_user_error([] { parse_augmentation("colour-jitter=nan"); }, {"colour-jitter"});
  expect_user_error([] { parse_augmentation("color-jitter"); }, {"did you mean 'colour-jitter'"});
  expect_user_error([] { augment(counting({{1, 1800}}), "crop"); }, {"1x1800", "--augment none"});
}

// A whole image of one grey, so that only the change is seen.
DatasetPtr grey(const tensor::Shape& shape, std::uint8_t level) {
  DataSpec spec;
  spec.inputs = {shape};
  spec.classes = 1;
  return image_source(spec, Bytes(static_cast<std::size_t>(shape.count()), level), {0});
}

TEST(Augment, BrightnessMultipliesAndBytesStayBelow256) {
  float least = 1e9f, most = 0;
  for (std::uint64_t epoch = 0; epoch < 400; ++epoch) {
    const Sample sample = fetch_sample(*augment(grey({1, 3, 17}, 100), "brightness=0.5"), 0, {3, epoch});
    for (const float v : sample.inputs[0]) EXPECT_EQ(v, sample.inputs[0][0]);
    least = std::min(least, sample.inputs[0][0]);
    most = std::max(most, sample.inputs[0][0]);
    const Sample bright = fetch_sample(*augment(grey({1, 3, 17}, 200), "brightness=0.5"), 0, {3, epoch});
    EXPECT_EQ(bright.inputs[0][0], std::min(2 * sample.inputs[0][0], 255.0f));
  }
  EXPECT_NEAR(least, 50, 2);
  EXPECT_NEAR(most, 150, 2);
}

TEST(Augment, CutoutBlacksOutASquareThatMayReachOver) {
  std::set<std::int64_t> counts;
  const DatasetPtr cut = augment(grey({2, 9, 20}, 7), "cutout=4");
  for (std::uint64_t epoch = 0; epoch < 500; ++epoch) {
    const std::vector<float> image = fetch_sample(*cut, 0, {3, epoch}).inputs[0];
    std::int64_t black = 0, top = 99, bottom = -1, left = 99, right = -1;
    for (std::int64_t y = 0; y < 9; ++y)
      for (std::int64_t x = 0; x < 20; ++x) {
        const float v = image[static_cast<std::size_t>(y * 20 + x)];
        EXPECT_EQ(v, image[static_cast<std::size_t>(180 + y * 20 + x)]) << "all colours alike";
        if (v != 0) continue;
        ++black;
        top = std::min(top, y), bottom = std::max(bottom, y), left = std::min(left, x), right = std::max(right, x);
      }
    EXPECT_EQ(black, (bottom - top + 1) * (right - left + 1));
    counts.insert(black);
  }
  EXPECT_EQ(*counts.rbegin(), 16);
  EXPECT_EQ(*counts.begin(), 4) << "around a corner pixel a quarter of the square is left";
}

TEST(Augment, RotationTurnsAroundTheCentre) {
  // A quarter turn and half a turn move pixels to pixels; the draw says how far each epoch's turn went.
  const tensor::Shape shape{1, 7, 7};
  const auto source = bytes_source(shape, 1);
  const std::vector<float> image = fetch_sample(*source, 0).inputs[0];
  const DatasetPtr turned = augment(source, "rotate=30");
  const Augmentation by_thirty = parse_augmentation("rotate=30");
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const Change change = draw_change(by_thirty, {1, epoch}, 0, 7, 7);
    EXPECT_NEAR(change.cosine * change.cosine + change.sine * change.sine, 1, 1e-6);
    EXPECT_GE(change.cosine, std::cos(30.0 * 3.14159265358979 / 180) - 1e-6);
    const std::vector<float> got = fetch_sample(*turned, 0, {1, epoch}).inputs[0];
    EXPECT_NEAR(got[24], image[24], 1e-3) << "the centre stays";
    for (std::int64_t y = 0; y < 7; ++y)
      for (std::int64_t x = 0; x < 7; ++x) {
        const double fy = 3 + change.cosine * static_cast<double>(y - 3) - change.sine * static_cast<double>(x - 3);
        const double fx = 3 + change.sine * static_cast<double>(y - 3) + change.cosine * static_cast<double>(x - 3);
        double expected = 0;
        for (std::int64_t sy = 0; sy < 7; ++sy)
          for (std::int64_t sx = 0; sx < 7; ++sx)
            expected += std::max(0.0, 1 - std::abs(fy - static_cast<double>(sy))) *
                        std::max(0.0, 1 - std::abs(fx - static_cast<double>(sx))) *
                        static_cast<double>(image[static_cast<std::size_t>(sy * 7 + sx)]);
        EXPECT_NEAR(got[static_cast<std::size_t>(y * 7 + x)], expected, 1e-2);
      }
  }
}

// Bytes read where they lie, floats made by another stage: one result. And the same bits on every instruction set.
TEST(Prepare, IsTheSameForBytesAndFloatsAndOnEveryInstructionSet) {
  for (const tensor::Shape& shape : {tensor::Shape{3, 32, 32}, {1, 28, 28}, {2, 5, 17}, {1, 1, 3}, {2, 40, 15}}) {
    const auto bytes = bytes_source(shape, 4);
    for (const char* kind : {"standard", "mean", "none"})
      for (const char* text : {"none", "crop,flip", "crop=3,flip,cutout=5,brightness=0.3", "rotate=20,flip,crop=1",
                               "random-resized-crop=0.3", "colour-jitter=0.4,flip",
                               "random-resized-crop,rotate=9,crop=1,flip,colour-jitter,cutout=3,brightness=0.3"}) {
        const Normalization n = compute_normalization(bytes, kind);
        const DatasetPtr direct = prepare(bytes, parse_augmentation(text), n);
        const DatasetPtr staged = normalize(augment(bytes, text), n);
        const base::Isa before = base::active_isa();
        base::set_active_isa(base::Isa::generic);
        std::vector<Sample> first;
        for (std::uint64_t epoch = 0; epoch < 6; ++epoch) first.push_back(fetch_sample(*direct, 3, {5, epoch}));
        for (const base::Isa isa : {base::Isa::generic, base::Isa::avx2, base::Isa::avx512}) {
          if (isa > base::best_isa()) continue;
          base::set_active_isa(isa);
          for (std::uint64_t epoch = 0; epoch < 6; ++epoch) {
            EXPECT_EQ(fetch_sample(*direct, 3, {5, epoch}).inputs, first[epoch].inputs) << text << " " << kind;
            EXPECT_EQ(fetch_sample(*staged, 3, {5, epoch}).inputs, first[epoch].inputs) << text << " " << kind;
          }
        }
        base::set_active_isa(before);
      }
  }
}

TEST(Normalize, StandardGivesMeanZeroAndDeviationOne) {
  const auto train = bytes_source({3, 5, 7}, 41);
  const DatasetPtr normalized = normalize(train, compute_normalization(train, "standard"));
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0, square = 0;
    for (std::int64_t i = 0; i < 41; ++i) {
      const Sample sample = fetch_sample(*normalized, i);
      for (std::size_t k = 0; k < 35; ++k) {
        const double v = sample.inputs[0][c * 35 + k];
        sum += v;
        square += v * v;
      }
    }
    EXPECT_NEAR(sum / (41 * 35), 0, 1e-6);
    EXPECT_NEAR(square / (41 * 35), 1, 1e-6);
  }
}

TEST(Normalize, StatisticsOfBytesAreExact) {
  const auto train = bytes_source({2, 3, 3}, 100);
  const Normalization standard = compute_normalization(train, "standard"), mean = compute_normalization(train, "mean");
  for (std::size_t c = 0; c < 2; ++c) {
    std::int64_t sum = 0, square = 0;
    for (std::int64_t i = 0; i < 100; ++i) {
      const Sample sample = fetch_sample(*train, i);
      for (std::size_t k = 0; k < 9; ++k) {
        const auto v = static_cast<std::int64_t>(sample.inputs[0][c * 9 + k]);
        sum += v;
        square += v * v;
      }
    }
    const double m = static_cast<double>(sum) / 900;
    EXPECT_EQ(standard.inputs[0].mean[c], static_cast<float>(m));
    EXPECT_EQ(mean.inputs[0].mean[c], static_cast<float>(m));
    EXPECT_EQ(standard.inputs[0].divisor[c], static_cast<float>(std::sqrt(static_cast<double>(square) / 900 - m * m)));
  }
}

TEST(Normalize, MeanIsPerPixelForOneChannelAndPerColourElse) {
  const auto grey = counting({{1, 2, 2}}, 3);  // value k of sample i: 1000 i + k, so pixel k has mean 1000 + k
  const DatasetPtr normalized = normalize(grey, compute_normalization(grey, "mean"));
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(fetch_sample(*normalized, i).inputs[0],
              std::vector<float>(4, normal(static_cast<float>(i) * 1000.0f, 1000.0f, 255.0f)));
  const auto colour = counting({{2, 1, 2}}, 3);  // colour means 1000.5 and 1002.5
  const Normalization n = compute_normalization(colour, "mean");
  EXPECT_EQ(n.inputs[0].mean, (std::vector<float>{1000.5f, 1002.5f}));
  const DatasetPtr applied = normalize(colour, n);
  EXPECT_EQ(fetch_sample(*applied, 1).inputs[0], (std::vector<float>{normal(-0.5f, 0, 255), normal(0.5f, 0, 255),
                                                                     normal(-0.5f, 0, 255), normal(0.5f, 0, 255)}));
}

TEST(Normalize, TrainStatisticsApplyToTest) {
  const auto train = bytes_source({1, 2, 2}, 8), test = bytes_source({1, 2, 2}, 3);
  const Normalization n = compute_normalization(train, "standard");
  const DatasetPtr normalized = normalize(test, n);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_EQ(fetch_sample(*normalized, i).inputs[0][k],
                normal(fetch_sample(*test, i).inputs[0][k], n.inputs[0].mean[0], n.inputs[0].divisor[0]));
}

TEST(Normalize, ScaleNoneConstantsAndSeveralInputs) {
  const auto bytes = bytes_source({1, 1, 3}, 2);
  EXPECT_EQ(fetch_sample(*normalize(bytes, compute_normalization(bytes, "scale")), 1).inputs[0][2],
            normal(fetch_sample(*bytes, 1).inputs[0][2], 0, 255));
  EXPECT_EQ(normalize(bytes, compute_normalization(bytes, "none")), bytes);
  const auto single = counting({{3}, {2, 2, 2}}, 1);  // one sample: channels of {3} never change
  const Normalization n = compute_normalization(single, "standard");
  EXPECT_EQ(n.inputs[0].divisor, std::vector<float>(3, 1.0f));
  EXPECT_EQ(n.inputs[1].mean, (std::vector<float>{1.75f, 5.75f}));
  EXPECT_EQ(fetch_sample(*normalize(single, n), 0).inputs[0], std::vector<float>(3, 0.0f));
  expect_user_error([&] { compute_normalization(bytes, "standart"); }, {"did you mean 'standard'"});
  expect_user_error([&] { normalize(counting({{5, 2, 2}}), compute_normalization(bytes, "standard")); }, {"5x2x2"});
}

// PyTorch's documented rule, straight from the formula, in double.
double bilinear(const std::vector<float>& plane, std::int64_t h, std::int64_t w, std::int64_t out_h, std::int64_t out_w,
                std::int64_t y, std::int64_t x) {
  const auto at = [&](std::int64_t r, std::int64_t c) {
    return static_cast<double>(plane[static_cast<std::size_t>(std::min(r, h - 1) * w + std::min(c, w - 1))]);
  };
  const double sy =
      std::max(0.0, (static_cast<double>(y) + 0.5) * static_cast<double>(h) / static_cast<double>(out_h) - 0.5);
  const double sx =
      std::max(0.0, (static_cast<double>(x) + 0.5) * static_cast<double>(w) / static_cast<double>(out_w) - 0.5);
  const auto r = static_cast<std::int64_t>(std::floor(sy)), c = static_cast<std::int64_t>(std::floor(sx));
  const double fy = sy - static_cast<double>(r), fx = sx - static_cast<double>(c);
  return (1 - fy) * ((1 - fx) * at(r, c) + fx * at(r, c + 1)) + fy * ((1 - fx) * at(r + 1, c) + fx * at(r + 1, c + 1));
}

TEST(Resize, FollowsTheFormulaUpAndDown) {
  const tensor::Shape shape{2, 5, 4};
  const auto source = bytes_source(shape, 3);
  for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{10, 8}, {7, 9}, {1, 1}, {3, 2}, {5, 11}}) {
    const DatasetPtr resized = resize(source, h, w);
    EXPECT_EQ(resized->spec().inputs, (Shapes{{2, h, w}}));
    const std::vector<float> in = fetch_sample(*source, 2).inputs[0], out = fetch_sample(*resized, 2).inputs[0];
    for (std::int64_t c = 0; c < 2; ++c) {
      const std::vector<float> plane(in.begin() + c * 20, in.begin() + (c + 1) * 20);
      for (std::int64_t y = 0; y < h; ++y)
        for (std::int64_t x = 0; x < w; ++x)
          EXPECT_NEAR(out[static_cast<std::size_t>((c * h + y) * w + x)], bilinear(plane, 5, 4, h, w, y, x), 1e-4);
    }
  }
}

TEST(Resize, KnownRowDoubled) {
  const auto source = counting({{1, 1, 2}}, 1);  // 0, 1
  EXPECT_EQ(fetch_sample(*resize(source, 1, 4), 0).inputs[0], (std::vector<float>{0.0f, 0.25f, 0.75f, 1.0f}));
  EXPECT_EQ(fetch_sample(*resize(source, 1, 1), 0).inputs[0], (std::vector<float>{0.5f}));
  EXPECT_EQ(resize(source, 1, 2), source);
}

TEST(Resize, NestsWithOtherStagesAndRefusesOtherShapes) {
  const auto source = bytes_source({3, 4, 4}, 5);
  const DatasetPtr chain = resize(augment(resize(augment(source, "flip"), 8, 8), "crop=1"), 6, 6);
  EXPECT_EQ(fetch_sample(*chain, 4, {1, 1}).inputs, fetch_sample(*chain, 4, {1, 1}).inputs);
  // Flip (all columns mirrored) commutes with resizing, and twice the same flip is nothing.
  const DatasetPtr flipped = augment(resize(augment(source, "flip"), 8, 8), "flip");
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    const auto a = fetch_sample(*flipped, 4, {1, epoch}).inputs[0],
               b = fetch_sample(*resize(source, 8, 8), 4).inputs[0];
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-3);
  }
  expect_user_error([] { resize(counting({{1, 1800}}), 8, 8); }, {"1x1800"});
  expect_user_error([&] { resize(source, 0, 8); }, {"0x8"});
}

}  // namespace
}  // namespace trireme::data
