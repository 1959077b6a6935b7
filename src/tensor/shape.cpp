#include "tensor/shape.h"

namespace trireme::tensor {

std::int64_t Shape::count_from(int first) const {
  std::int64_t product = 1;
  for (int i = first; i < rank(); ++i) product *= (*this)[i];
  return product;
}

Shape Shape::with_batch(std::int64_t n) const {
  std::vector<std::int64_t> sizes{n};
  sizes.insert(sizes.end(), sizes_.begin(), sizes_.end());
  return Shape(std::move(sizes));
}

Shape Shape::without_batch() const { return Shape(std::vector<std::int64_t>(sizes_.begin() + 1, sizes_.end())); }

std::string Shape::text() const {
  std::string all;
  for (const std::int64_t size : sizes_) all += (all.empty() ? "" : "x") + std::to_string(size);
  return all.empty() ? "scalar" : all;
}

}  // namespace trireme::tensor
