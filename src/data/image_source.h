// ImageSource: images kept as bytes in memory, with one class each. A fetch gives float(byte), 0 ... 255.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"

namespace trireme::data {

class ImageSource : public Dataset {
 public:
  // pixels: one image after the other, each in the order of its shape (colour, row, column). One input, classes.
  // The reader has checked the content and named the file in its errors; here it is an invariant.
  ImageSource(DataSpec spec, std::vector<std::uint8_t> pixels, std::vector<std::uint8_t> labels);

  const DataSpec& spec() const override { return spec_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(labels_.size()); }
  void fetch(std::int64_t index, const Draw& draw, std::span<float* const> inputs, float* target) const override;

 private:
  DataSpec spec_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> labels_;
  std::size_t image_bytes_;
};

}  // namespace trireme::data
