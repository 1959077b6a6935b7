#include "data/stages/resize.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "data/stages/scratch.h"

namespace trireme::data {
namespace {

// Bilinear interpolation along one axis: two source positions and their weights for each output position.
struct Axis {
  std::vector<std::int32_t> first, second;
  std::vector<float> weight_first, weight_second;

  Axis(std::int64_t in, std::int64_t out) {
    const double step = static_cast<double>(in) / static_cast<double>(out);
    for (std::int64_t i = 0; i < out; ++i) {
      const double centre = std::max(0.0, (static_cast<double>(i) + 0.5) * step - 0.5);
      const auto left = std::min(static_cast<std::int64_t>(centre), in - 1);
      const auto right = std::min(left + 1, in - 1);
      const double share = centre - static_cast<double>(left);
      first.push_back(static_cast<std::int32_t>(left));
      second.push_back(static_cast<std::int32_t>(right));
      weight_first.push_back(static_cast<float>(1.0 - share));
      weight_second.push_back(static_cast<float>(share));
    }
  }
};

struct Plan {
  std::int64_t channels, rows, columns;  // of the source
  Axis down, across;
};

class Resize : public Dataset {
 public:
  Resize(DatasetPtr source, std::int64_t height, std::int64_t width)
      : source_(std::move(source)), spec_(source_->spec()), height_(height), width_(width) {
    base::check(spec_.inputs.size() <= kMaxInputs, "{} inputs, at most {}", spec_.inputs.size(), kMaxInputs);
    for (tensor::Shape& shape : spec_.inputs) {
      plans_.push_back({shape[0], shape[1], shape[2], Axis(shape[1], height), Axis(shape[2], width)});
      source_floats_ += static_cast<std::size_t>(shape.count());
      widened_floats_ = std::max(widened_floats_, static_cast<std::size_t>(shape[1] * width));
      shape = {shape[0], height, width};
    }
  }
  const DataSpec& spec() const override { return spec_; }
  std::int64_t size() const override { return source_->size(); }
  std::string origin(std::int64_t index) const override { return source_->origin(index); }

  void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
             float* target) const override {
    Scratch source(source_floats_), widened(widened_floats_);
    std::array<float*, kMaxInputs> small{};
    float* next = source.data();
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      small[i] = next;
      next += plans_[i].channels * plans_[i].rows * plans_[i].columns;
    }
    source_->fetch(index, random, std::span<float* const>(small.data(), plans_.size()), target);
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const Plan& plan = plans_[i];
      for (std::int64_t c = 0; c < plan.channels; ++c)
        resize_plane(plan, small[i] + c * plan.rows * plan.columns, widened.data(), inputs[i] + c * height_ * width_);
    }
  }

 private:
  // Resizes along the columns first (each source row once), then mixes pairs of rows.
  void resize_plane(const Plan& plan, const float* src, float* widened, float* dst) const {
    const Axis& across = plan.across;
    for (std::int64_t y = 0; y < plan.rows; ++y) {
      const float* row = src + y * plan.columns;
      float* wide = widened + y * width_;
      for (std::size_t x = 0; x < static_cast<std::size_t>(width_); ++x)
        wide[x] = across.weight_first[x] * row[across.first[x]] + across.weight_second[x] * row[across.second[x]];
    }
    for (std::size_t y = 0; y < static_cast<std::size_t>(height_); ++y) {
      const float* above = widened + plan.down.first[y] * width_;
      const float* below = widened + plan.down.second[y] * width_;
      const float weight_above = plan.down.weight_first[y], weight_below = plan.down.weight_second[y];
      float* row = dst + static_cast<std::int64_t>(y) * width_;
      for (std::int64_t x = 0; x < width_; ++x) row[x] = weight_above * above[x] + weight_below * below[x];
    }
  }

  DatasetPtr source_;
  DataSpec spec_;
  std::int64_t height_, width_;
  std::vector<Plan> plans_;
  std::size_t source_floats_ = 0, widened_floats_ = 0;
};

}  // namespace

DatasetPtr resize(DatasetPtr source, std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1 || height > 16384 || width > 16384)
    base::user_error("images cannot be resized to {}x{}, expected 1 ... 16384 each way", height, width);
  bool same = true;
  for (const tensor::Shape& shape : source->spec().inputs) {
    if (shape.rank() != 3)
      base::user_error("resizing needs images (colours x rows x columns), but an input is {}", shape.text());
    same = same && shape[1] == height && shape[2] == width;
  }
  if (same) return source;
  return std::make_shared<Resize>(std::move(source), height, width);
}

}  // namespace trireme::data
