#include "data/stages/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/cpu/math.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::data {
namespace {

// Position of each random number in a sample's stream.
enum Position : std::uint64_t {
  kRowShift,
  kColumnShift,
  kFlip,
  kAngle,
  kGain,
  kCutRow,
  kCutColumn,
  kWindowArea,
  kWindowRatio,
  kWindowRow,
  kWindowColumn,
  kJitterBrightness,
  kJitterContrast,
  kJitterSaturation,
  kJitterHue
};

using Value = const std::string*;  // null: none was given

std::int64_t pixels(const char* name, Value value, std::int64_t usual) {
  const std::int64_t count =
      value ? base::parse_int(fmt::format("the pixels of augmentation '{}'", name), *value) : usual;
  if (count < 1 || count > 1024)
    base::user_error("augmentation {}={} is out of range, expected 1 ... 1024 pixels", name, count);
  return count;
}

double number(const char* name, Value value, double usual, double most, const char* unit) {
  const double given = value ? base::parse_double(fmt::format("augmentation '{}'", name), *value) : usual;
  if (!(given > 0 && given <= most))
    base::user_error("augmentation {}={} is out of range, expected more than 0, at most {}{}", name, given, most, unit);
  return given;
}

// "0.2:1.5": as many numbers as there are ranges, or fewer.
struct NumberRange {
  double least, most;
};
std::vector<double> numbers(const char* name, const std::string& value, std::span<const NumberRange> ranges) {
  std::vector<double> all;
  for (const std::string& part : base::split(value, ':'))
    all.push_back(base::parse_double(fmt::format("augmentation '{}'", name), part));
  if (all.size() > ranges.size())
    base::user_error("augmentation {}={} has {} numbers, expected at most {}", name, value, all.size(), ranges.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!(all[i] >= ranges[i].least && all[i] <= ranges[i].most))
      base::user_error("augmentation {}={}: number {} is out of range, expected {} ... {}", name, value, i + 1,
                       ranges[i].least, ranges[i].most);
  return all;
}

void read_resized_crop(Value value, Augmentation& to) {
  constexpr std::array kRanges = {NumberRange{0.01, 1}, NumberRange{1, 10}};
  to.least_area = 0.08;
  to.most_ratio = 4.0 / 3;
  if (!value) return;
  const std::vector<double> given = numbers("random-resized-crop", *value, kRanges);
  to.least_area = given[0];
  if (given.size() > 1) to.most_ratio = given[1];
}

void read_jitter(Value value, Augmentation& to) {
  constexpr NumberRange kShare{0, 1};
  constexpr std::array kRanges = {kShare, kShare, kShare, NumberRange{0, 0.5}};
  const std::vector<double> given = value ? numbers("colour-jitter", *value, kRanges) : std::vector<double>{0.2};
  if (given.size() != 1 && given.size() != kRanges.size())
    base::user_error(
        "augmentation colour-jitter={} has {} numbers, expected one, or brightness:contrast:saturation:hue", *value,
        given.size());
  to.jitter = given.size() == 1 ? Augmentation::Jitter{given[0], given[0], given[0], given[0] / 4}
                                : Augmentation::Jitter{given[0], given[1], given[2], given[3]};
  if (to.jitter == Augmentation::Jitter{})
    base::user_error("augmentation colour-jitter={} changes nothing; give a number above 0", *value);
}

struct AugmentationKind {
  const char* name;
  const char* description;
  void (*apply)(Value value, Augmentation& to);
};

constexpr std::array kAugmentations = {
    AugmentationKind{"random-resized-crop",
                     "cut out 8 to 100 % of the area, up to 4/3 as wide or high as the image's shape, and enlarge it "
                     "(random-resized-crop=S:R: from the share S on, up to R)",
                     read_resized_crop},
    AugmentationKind{"crop", "pad 4 zeros on each side (crop=P: P) and take the old size at a random place",
                     [](Value v, Augmentation& to) { to.pad = pixels("crop", v, 4); }},
    AugmentationKind{"flip", "mirror left and right every second time",
                     [](Value v, Augmentation& to) {
                       if (v) base::user_error("augmentation 'flip' takes no value, but was given '{}'", *v);
                       to.flip = true;
                     }},
    AugmentationKind{"rotate", "turn by up to 15 degrees either way (rotate=D: D, at most 180), black outside",
                     [](Value v, Augmentation& to) { to.degrees = number("rotate", v, 15, 180, " degrees"); }},
    AugmentationKind{"brightness", "multiply by 0.8 to 1.2 (brightness=B: 1 - B to 1 + B)",
                     [](Value v, Augmentation& to) { to.brightness = number("brightness", v, 0.2, 1, ""); }},
    AugmentationKind{"cutout", "black out a square of 8 pixels (cutout=S: S) around a random one",
                     [](Value v, Augmentation& to) { to.cutout = pixels("cutout", v, 8); }},
    AugmentationKind{"colour-jitter",
                     "multiply brightness, contrast and saturation by 0.8 to 1.2, turn the hue by up to 0.05 "
                     "(colour-jitter=J: 1 - J to 1 + J, J/4; colour-jitter=B:C:S:H: each its own)",
                     read_jitter},
};

// Cosine and sine of an angle in turns, -0.5 ... 0.5.
float cosine_of(double turns) { return base::cos_turns(static_cast<float>(turns < 0 ? -turns : turns)); }
float sine_of(double turns) {
  const double quarter_before = turns - 0.25;
  return base::cos_turns(static_cast<float>(quarter_before < 0 ? quarter_before + 1 : quarter_before));
}

// A window with its share of the area in least_area ... 1, and its sides' ratio relative to the image's in
// 1 / most_ratio ... most_ratio, as often below 1 as above. A side that would be longer than the image's is cut to it.
Window draw_window(const Augmentation& augmentation, const base::CounterRng& rng, std::int64_t height,
                   std::int64_t width) {
  const auto uniform = [&](Position position) { return static_cast<double>(rng.uniform(position)); };
  const double area = augmentation.least_area + uniform(kWindowArea) * (1 - augmentation.least_area);
  const double either_way = 2 * uniform(kWindowRatio) - 1;
  const double wider = 1 + (either_way < 0 ? -either_way : either_way) * (augmentation.most_ratio - 1);
  const double ratio = either_way < 0 ? 1 / wider : wider;
  const auto side = [](double share, std::int64_t whole) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(whole) + 0.5), 1, whole);
  };
  Window window;
  window.rows = side(std::sqrt(area / ratio), height);
  window.columns = side(std::sqrt(area * ratio), width);
  const auto start = [&](Position position, std::int64_t rest) {
    return std::min(rest, static_cast<std::int64_t>(uniform(position) * static_cast<double>(rest + 1)));
  };
  window.top = start(kWindowRow, height - window.rows);
  window.left = start(kWindowColumn, width - window.columns);
  return window;
}

}  // namespace

Augmentation parse_augmentation(std::string_view text) {
  Augmentation result;
  if (text.empty() || text == "none") return result;
  std::vector<std::string> seen;
  for (const std::string& item : base::split(text, ',')) {
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const auto kind = std::find_if(kAugmentations.begin(), kAugmentations.end(),
                                   [&](const AugmentationKind& k) { return name == k.name; });
    if (kind == kAugmentations.end()) {
      std::vector<std::string> names;
      for (const AugmentationKind& k : kAugmentations) names.emplace_back(k.name);
      base::user_error("{}", base::unknown_name("augmentation", name, names));
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      base::user_error("the augmentation '{}' names '{}' twice", text, name);
    seen.push_back(name);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    kind->apply(equals == std::string::npos ? nullptr : &value, result);
  }
  return result;
}

void check_augmentation_fits(const Augmentation& augmentation, const std::vector<tensor::Shape>& inputs) {
  for (const tensor::Shape& shape : inputs) {
    if (shape.rank() != 3) continue;
    const std::int64_t side = std::min(shape[1], shape[2]);
    if (augmentation.pad >= side)
      base::user_error("augmentation crop={0} can move images of {1} out of sight; expected crop=1 ... crop={2}",
                       augmentation.pad, shape.text(), side - 1);
    if (augmentation.cutout > side)
      base::user_error("augmentation cutout={0} can cover images of {1}; expected cutout=1 ... cutout={2}",
                       augmentation.cutout, shape.text(), side);
  }
}

std::vector<AugmentationInfo> augmentation_list() {
  std::vector<AugmentationInfo> list;
  for (const AugmentationKind& kind : kAugmentations) list.push_back({kind.name, kind.description});
  return list;
}

Change draw_change(const Augmentation& augmentation, const AugmentationSeed& random, std::int64_t index,
                   std::int64_t height, std::int64_t width) {
  const base::CounterRng rng(random.seed, base::Purpose::augment, random.epoch, static_cast<std::uint64_t>(index));
  const auto below = [&](Position position, std::int64_t n) {
    return static_cast<std::int64_t>(rng.below(position, static_cast<std::uint64_t>(n)));
  };
  // Uniform in -1 ... 1.
  const auto either_way = [&](Position position) { return 2 * static_cast<double>(rng.uniform(position)) - 1; };
  Change change;
  if (const std::int64_t pad = augmentation.pad; pad > 0) {
    change.down = below(kRowShift, 2 * pad + 1) - pad;
    change.right = below(kColumnShift, 2 * pad + 1) - pad;
  }
  change.flip = augmentation.flip && below(kFlip, 2) == 1;
  if (augmentation.degrees > 0) {
    const double turns = either_way(kAngle) * augmentation.degrees / 360;
    change.cosine = cosine_of(turns);
    change.sine = sine_of(turns);
  }
  if (augmentation.brightness > 0) change.gain = static_cast<float>(1 + either_way(kGain) * augmentation.brightness);
  if (augmentation.least_area > 0) change.window = draw_window(augmentation, rng, height, width);
  const Augmentation::Jitter& jitter = augmentation.jitter;
  const auto factor = [&](Position position, double most) {
    return most > 0 ? static_cast<float>(1 + either_way(position) * most) : 1.0f;
  };
  change.colours.brightness = factor(kJitterBrightness, jitter.brightness);
  change.colours.contrast = factor(kJitterContrast, jitter.contrast);
  change.colours.saturation = factor(kJitterSaturation, jitter.saturation);
  if (jitter.hue > 0) {
    const double turns = either_way(kJitterHue) * jitter.hue;
    change.colours.hue_cosine = cosine_of(turns);
    change.colours.hue_sine = sine_of(turns);
  }
  if (const std::int64_t side = augmentation.cutout; side > 0) {
    change.cut_top = below(kCutRow, height) - side / 2;
    change.cut_left = below(kCutColumn, width) - side / 2;
    change.cut_side = side;
  }
  return change;
}

}  // namespace trireme::data
