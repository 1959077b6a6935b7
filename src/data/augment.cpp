#include "data/augment.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "base/rng.h"
#include "base/text.h"
#include "data/scratch.h"

namespace trireme::data {
namespace {

constexpr std::int64_t kDefaultPad = 4;

// Where each random number of a sample stands.
enum Position : std::uint64_t { kRowShift, kColumnShift, kFlip };

struct Kind {
  const char* name;
  void (*apply)(const std::string* value, Augmentation& to);
};

void apply_crop(const std::string* value, Augmentation& to) {
  to.pad = value ? base::parse_int("the padding of augmentation 'crop'", *value) : kDefaultPad;
  if (to.pad < 1 || to.pad > 1024)
    base::user_error("augmentation crop={} is out of range, expected 1 ... 1024 pixels", to.pad);
}

void apply_flip(const std::string* value, Augmentation& to) {
  if (value) base::user_error("augmentation 'flip' takes no value, but was given '{}'", *value);
  to.flip = true;
}

constexpr std::array kKinds = {Kind{"crop", apply_crop}, Kind{"flip", apply_flip}};

// dst(y, x) = src(y + down, x + right), zero outside; then mirrored. Rows of `width` floats.
void move_plane(const float* src, float* dst, std::int64_t height, std::int64_t width, std::int64_t down,
                std::int64_t right, bool flip) {
  const std::int64_t first = std::clamp<std::int64_t>(-right, 0, width), last = std::clamp(width - right, first, width);
  for (std::int64_t y = 0; y < height; ++y) {
    float* row = dst + y * width;
    const std::int64_t from = y + down;
    if (from < 0 || from >= height || first == last) {
      std::fill(row, row + width, 0.0f);
      continue;
    }
    std::fill(row, row + first, 0.0f);
    std::memcpy(row + first, src + from * width + first + right,
                static_cast<std::size_t>(last - first) * sizeof(float));
    std::fill(row + last, row + width, 0.0f);
    if (flip) std::reverse(row, row + width);
  }
}

class Augment : public Dataset {
 public:
  Augment(DatasetPtr source, const Augmentation& augmentation)
      : source_(std::move(source)), augmentation_(augmentation) {
    for (const tensor::Shape& shape : spec().inputs)
      if (shape.rank() != 3)
        base::user_error("augmentation needs images (colours x rows x columns), but an input is {}; use --augment none",
                         shape.text());
  }
  const DataSpec& spec() const override { return source_->spec(); }
  std::int64_t size() const override { return source_->size(); }

  void fetch(std::int64_t index, const Draw& draw, std::span<float* const> inputs, float* target) const override {
    source_->fetch(index, draw, inputs, target);
    const base::CounterRng rng(draw.seed, base::Purpose::augment, draw.epoch, static_cast<std::uint64_t>(index));
    const std::int64_t pad = augmentation_.pad;
    const auto shift = [&](Position position) {
      return static_cast<std::int64_t>(rng.below(position, static_cast<std::uint64_t>(2 * pad + 1))) - pad;
    };
    const std::int64_t down = shift(kRowShift), right = shift(kColumnShift);
    const bool flip = augmentation_.flip && rng.below(kFlip, 2) == 1;
    if (down == 0 && right == 0 && !flip) return;

    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const tensor::Shape& shape = spec().inputs[i];
      const std::int64_t plane = shape[1] * shape[2];
      Scratch copy(static_cast<std::size_t>(plane));
      for (std::int64_t c = 0; c < shape[0]; ++c) {
        float* values = inputs[i] + c * plane;
        std::memcpy(copy.data(), values, static_cast<std::size_t>(plane) * sizeof(float));
        move_plane(copy.data(), values, shape[1], shape[2], down, right, flip);
      }
    }
  }

 private:
  DatasetPtr source_;
  Augmentation augmentation_;
};

}  // namespace

Augmentation parse_augmentation(std::string_view text) {
  Augmentation result;
  if (text.empty() || text == "none") return result;
  std::vector<std::string> seen;
  for (const std::string& item : base::split(text, ',')) {
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return name == k.name; });
    if (kind == kKinds.end()) {
      std::vector<std::string> names;
      for (const Kind& k : kKinds) names.emplace_back(k.name);
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

DatasetPtr augment(DatasetPtr source, const Augmentation& augmentation) {
  if (augmentation.pad == 0 && !augmentation.flip) return source;
  return std::make_shared<Augment>(std::move(source), augmentation);
}

DatasetPtr augment(DatasetPtr source, std::string_view text) {
  return augment(std::move(source), parse_augmentation(text));
}

}  // namespace trireme::data
