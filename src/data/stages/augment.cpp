#include "data/stages/augment.h"

#include <algorithm>
#include <array>

#include "base/cpu/math.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::data {
namespace {

// Position of each random number in a sample's stream.
enum Position : std::uint64_t { kRowShift, kColumnShift, kFlip, kAngle, kGain, kCutRow, kCutColumn };

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

struct AugmentationKind {
  const char* name;
  const char* description;
  void (*apply)(Value value, Augmentation& to);
};

constexpr std::array kAugmentations = {
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
};

// Cosine and sine of an angle in turns, -0.5 ... 0.5.
float cosine_of(double turns) { return base::cos_turns(static_cast<float>(turns < 0 ? -turns : turns)); }
float sine_of(double turns) {
  const double quarter_before = turns - 0.25;
  return base::cos_turns(static_cast<float>(quarter_before < 0 ? quarter_before + 1 : quarter_before));
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
  if (const std::int64_t side = augmentation.cutout; side > 0) {
    change.cut_top = below(kCutRow, height) - side / 2;
    change.cut_left = below(kCutColumn, width) - side / 2;
    change.cut_side = side;
  }
  return change;
}

}  // namespace trireme::data
