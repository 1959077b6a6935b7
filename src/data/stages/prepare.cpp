#include "data/stages/prepare.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/error.h"
#include "data/stages/colour_jitter.h"
#include "data/stages/plane.h"
#include "data/stages/resized_crop.h"
#include "data/stages/scratch.h"

namespace trireme::data {
namespace {

std::int64_t channels_in(const tensor::Shape& shape) { return shape.rank() == 0 ? 1 : shape[0]; }

class Prepare : public Dataset {
 public:
  Prepare(DatasetPtr source, const Augmentation& augmentation, Normalization normalization)
      : source_(std::move(source)),
        augmentation_(augmentation),
        augments_(!augmentation.does_nothing()),
        normalization_(std::move(normalization)) {
    const auto& shapes = spec().inputs;
    base::check(shapes.size() <= kMaxInputs, "{} inputs, at most {}", shapes.size(), kMaxInputs);
    for (const tensor::Shape& shape : shapes) {
      if (augments_ && shape.rank() != 3)
        base::user_error("augmentation needs images (colours x rows x columns), but an input is {}; use --augment none",
                         shape.text());
      floats_ += static_cast<std::size_t>(shape.count());
    }
    if (normalization_.inputs.empty())
      for (const tensor::Shape& shape : shapes) {
        const auto channels = static_cast<std::size_t>(channels_in(shape));
        normalization_.inputs.push_back({std::vector<float>(channels, 0.0f), std::vector<float>(channels, 1.0f)});
      }
    if (normalization_.inputs.size() != shapes.size())
      base::user_error("a normalization of {} inputs does not fit samples of {}; compute it from data of that shape",
                       normalization_.inputs.size(), shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) set_factors(shapes[i], normalization_.inputs[i]);
  }

  const DataSpec& spec() const override { return source_->spec(); }
  std::int64_t size() const override { return source_->size(); }
  std::string origin(std::int64_t index) const override { return source_->origin(index); }

  void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
             float* target) const override {
    std::array<StoredValues, kMaxInputs> stored{};
    if (source_->view(index, stored, target)) return convert(index, random, stored, inputs);
    Scratch made(floats_);
    std::array<float*, kMaxInputs> places{};
    float* next = made.data();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      places[i] = next;
      stored[i] = {ValueType::real, reinterpret_cast<const std::byte*>(next)};
      next += spec().inputs[i].count();
    }
    source_->fetch(index, random, std::span<float* const>(places.data(), inputs.size()), target);
    convert(index, random, stored, inputs);
  }

 private:
  void set_factors(const tensor::Shape& shape, const InputNormalization& numbers) {
    const auto count = static_cast<std::size_t>(shape.count()), channels = static_cast<std::size_t>(channels_in(shape));
    const auto& [mean, divisor] = numbers;
    if (mean.size() != divisor.size() || (mean.size() != channels && mean.size() != count))
      base::user_error("a normalization of {} numbers does not fit an input of {}; compute it from data of that shape",
                       mean.size(), shape.text());
    std::vector<float> factor;
    for (const float d : divisor) factor.push_back(static_cast<float>(1.0 / static_cast<double>(d)));
    factors_.push_back(std::move(factor));
  }

  // Window, move and colours on floats of the whole image; then what convert_plane() does last.
  void convert_whole_image(const Plane& first, std::int64_t channels, const Change& change) const {
    const std::int64_t values = first.height * first.width;
    Scratch image(static_cast<std::size_t>(channels * values)), window(static_cast<std::size_t>(values));
    constexpr float kNoMean = 0, kNoFactor = 1;
    Change moved = change;
    moved.gain = 1;
    moved.cut_side = 0;
    for (std::int64_t c = 0; c < channels; ++c) {
      Plane plane = first;
      plane.src.data += static_cast<std::size_t>(c * values) * value_bytes(plane.src.type);
      if (change.window.rows > 0) {
        resize_window(plane.src, plane.height, plane.width, change.window, window.data());
        plane.src = {ValueType::real, reinterpret_cast<const std::byte*>(window.data())};
      }
      plane.dst = image.data() + c * values;
      plane.mean = &kNoMean;
      plane.factor = &kNoFactor;
      plane.per_value = false;
      convert_plane(plane, moved);
    }
    change_colours(change.colours, first.most, channels, values, image.data());
    Change last;
    last.gain = change.gain;
    last.cut_top = change.cut_top;
    last.cut_left = change.cut_left;
    last.cut_side = change.cut_side;
    Plane plane = first;
    plane.src = {ValueType::real, reinterpret_cast<const std::byte*>(image.data())};
    convert_planes(plane, channels, last);
  }

  static void convert_planes(Plane plane, std::int64_t channels, const Change& change) {
    const std::int64_t values = plane.height * plane.width, next = plane.per_value ? values : 1;
    for (std::int64_t c = 0; c < channels; ++c) {
      convert_plane(plane, change);
      plane.src.data += static_cast<std::size_t>(values) * value_bytes(plane.src.type);
      plane.dst += values;
      plane.mean += next;
      plane.factor += next;
    }
  }

  void convert(std::int64_t index, const AugmentationSeed& random, std::span<const StoredValues> stored,
               std::span<float* const> inputs) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const tensor::Shape& shape = spec().inputs[i];
      const std::vector<float>& mean = normalization_.inputs[i].mean;
      const std::int64_t channels = channels_in(shape), values = shape.count() / std::max<std::int64_t>(channels, 1);
      const bool image = shape.rank() == 3;
      const Plane plane{stored[i],
                        image ? shape[1] : 1,
                        image ? shape[2] : values,
                        inputs[i],
                        stored[i].type == ValueType::byte ? 255.0f : std::numeric_limits<float>::infinity(),
                        mean.data(),
                        factors_[i].data(),
                        mean.size() != static_cast<std::size_t>(channels)};
      const Change change = augments_ ? draw_change(augmentation_, random, index, plane.height, plane.width) : Change{};
      if (augmentation_.needs_whole_image())
        convert_whole_image(plane, channels, change);
      else
        convert_planes(plane, channels, change);
    }
  }

  DatasetPtr source_;
  Augmentation augmentation_;
  bool augments_;
  Normalization normalization_;
  std::vector<std::vector<float>> factors_;  // 1 / divisor, per input
  std::size_t floats_ = 0;                   // of a sample's inputs
};

}  // namespace

DatasetPtr prepare(DatasetPtr source, const Augmentation& augmentation, Normalization normalization) {
  if (augmentation.does_nothing() && normalization.inputs.empty()) return source;
  return std::make_shared<Prepare>(std::move(source), augmentation, std::move(normalization));
}

DatasetPtr augment(DatasetPtr source, std::string_view text) {
  return prepare(std::move(source), parse_augmentation(text), {});
}

DatasetPtr normalize(DatasetPtr source, Normalization normalization) {
  return prepare(std::move(source), {}, std::move(normalization));
}

}  // namespace trireme::data
