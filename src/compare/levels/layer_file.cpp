#include "compare/levels/layer_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace trireme::compare {

const store::NamedTensor& LayerFile::get(const std::string& what) const {
  const store::NamedTensor* found = find(what);
  if (found == nullptr) base::run_error("the peer has no {}.{}", name_, what);
  return *found;
}

double mean_square(const store::NamedTensor& tensor) {
  double sum = 0;
  for (const float value : tensor.values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum / static_cast<double>(std::max<std::size_t>(tensor.values.size(), 1));
}

Difference compare_sums(const std::string& name, std::span<const float> ours, const store::NamedTensor& reference,
                        double length, double least) {
  Difference found{name, std::numeric_limits<double>::infinity(), kAllowance * std::sqrt(length) * kUnit};
  if (ours.size() != reference.values.size()) return found;
  double difference = 0, largest_difference = 0, largest = std::sqrt(least);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double theirs = reference.values[i], apart = std::abs(ours[i] - theirs);
    difference += apart * apart;
    largest_difference = std::max(largest_difference, apart);
    largest = std::max(largest, std::abs(theirs));
  }
  const double norm = std::max(mean_square(reference), least) * static_cast<double>(ours.size());
  if (difference == 0)
    found.error = 0;
  else if (std::isfinite(difference) && norm > 0) {
    found.error = std::sqrt(difference / norm);
    found.max_error = largest_difference / largest;
  }
  return found;
}

std::span<const float> first_oar_of(const Feed& feed, const std::string& name) {
  const store::NamedTensor* found = compare::find(feed.tensors, name);
  base::check(found != nullptr, "the batch has no {}", name);
  const auto own = static_cast<std::size_t>(found->shape.count_from(1));
  const auto at = [&](std::int64_t samples) { return static_cast<std::size_t>(samples) * own; };
  return std::span(found->values).subspan(at(feed.oars[0].begin), at(feed.oars[0].size()));
}

}  // namespace trireme::compare
