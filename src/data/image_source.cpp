#include "data/image_source.h"

#include <utility>

#include "base/error.h"

namespace trireme::data {

ImageSource::ImageSource(DataSpec spec, std::vector<std::uint8_t> pixels, std::vector<std::uint8_t> labels)
    : spec_(std::move(spec)), pixels_(std::move(pixels)), labels_(std::move(labels)) {
  base::check(spec_.inputs.size() == 1 && spec_.target == TargetKind::classes,
              "an image source has one input and classes");
  image_bytes_ = static_cast<std::size_t>(spec_.inputs[0].count());
  base::check(pixels_.size() == labels_.size() * image_bytes_, "{} pixel bytes for {} labels of {} bytes each",
              pixels_.size(), labels_.size(), image_bytes_);
  for (const std::uint8_t label : labels_)
    base::check(label < spec_.classes, "label {} of {} classes", label, spec_.classes);
}

void ImageSource::fetch(std::int64_t index, const Draw&, std::span<float* const> inputs, float* target) const {
  base::check(index >= 0 && index < size(), "sample {} of {}", index, size());
  const std::uint8_t* src = pixels_.data() + static_cast<std::size_t>(index) * image_bytes_;
  float* dst = inputs[0];
  for (std::size_t i = 0; i < image_bytes_; ++i) dst[i] = static_cast<float>(src[i]);
  *target = static_cast<float>(labels_[static_cast<std::size_t>(index)]);
}

}  // namespace trireme::data
