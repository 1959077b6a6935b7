#include "tensor/parameter_space.h"

#include "base/error.h"
#include "base/hash.h"
#include "tensor/buffer.h"

namespace trireme::tensor {

ParameterSpace::ParameterSpace(const std::vector<Entry>& defined) {
  for (const Entry& entry : defined) {
    base::check(find(entry.name) < 0, "two parameters are called '{}'", entry.name);
    base::check(entry.shape.count() == entry.layout.shape.count(), "parameter '{}': shape {} against layout {}",
                entry.name, entry.shape.text(), entry.layout.shape.text());
    base::check(entry.layout.type == ElementType::float32, "parameter '{}' is of {}, parameters are kept in {}",
                entry.name, element_name(entry.layout.type), element_name(ElementType::float32));
    ranges_.push_back({entry.name, entry.kind, entry.shape, entry.layout, 0});
  }
  const auto place = [&](ParameterKind kind) {
    for (std::size_t i = ranges_.size(); i-- > 0;) {
      if (ranges_[i].kind != kind) continue;
      ranges_[i].offset = floats_;
      const auto floats = static_cast<std::size_t>(ranges_[i].floats());
      floats_ += static_cast<std::int64_t>(align_up(floats * sizeof(float)) / sizeof(float));
      memory_order_.push_back(static_cast<int>(i));
    }
  };
  place(ParameterKind::trained);
  trained_floats_ = floats_;
  place(ParameterKind::statistic);
}

int ParameterSpace::find(const std::string& name) const {
  for (std::size_t i = 0; i < ranges_.size(); ++i)
    if (ranges_[i].name == name) return static_cast<int>(i);
  return -1;
}

std::string ParameterSpace::sha256(const float* buffer) const {
  base::Sha256 hash;
  std::vector<float> plain;
  for (const ParameterRange& range : ranges_) {
    plain.resize(static_cast<std::size_t>(range.count()));
    to_plain(range.layout, buffer + range.offset, plain.data());
    hash.add(range.name + ":" + range.shape.text() + "\n");
    hash.add(std::as_bytes(std::span<const float>(plain)));
  }
  return hash.finish();
}

}  // namespace trireme::tensor
