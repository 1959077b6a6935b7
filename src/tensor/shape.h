// Shape: the sizes of a tensor, outermost first. Activations have N, C, then up to two spatial sizes.
// A value type.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace trireme::tensor {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  explicit Shape(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}

  int rank() const { return static_cast<int>(sizes_.size()); }
  std::int64_t operator[](int i) const { return sizes_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return sizes_[static_cast<std::size_t>(i)]; }
  std::span<const std::int64_t> sizes() const { return sizes_; }
  // Product of all sizes; 1 for rank 0.
  std::int64_t count() const { return count_from(0); }
  // Product of the sizes from dimension `first` on.
  std::int64_t count_from(int first) const;
  // This shape with n in front: makes a sample's shape a batch's.
  Shape with_batch(std::int64_t n) const;
  // This shape without its first size: makes a batch's shape a sample's.
  Shape without_batch() const;
  std::string text() const;  // "3x32x32"

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> sizes_;
};

}  // namespace trireme::tensor
