#include "compare/weight_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace trireme::compare {
namespace {

bool same_bits(const store::NamedTensor& a, const store::NamedTensor& b) {
  return std::ranges::equal(a.values, b.values, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

}  // namespace

Level compare_weights(const Tensors& a, const Tensors& b) {
  Level level{.name = "start-equal"};
  const auto fail = [&](const std::string& why) {
    if (level.passed) level.summary = why;
    level.passed = false;
  };
  const bool by_name = std::ranges::any_of(a, [&](const store::NamedTensor& one) { return find(b, one.name); });
  std::int64_t values = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const store::NamedTensor& one = a[i];
    const store::NamedTensor* other = by_name ? find(b, one.name) : i < b.size() ? &b[i] : nullptr;
    if (other == nullptr) {
      fail(fmt::format("{} is only in the first file", one.name));
      continue;
    }
    if (one.shape != other->shape) {
      fail(fmt::format("{} is {} in the first file and {} in the second", one.name, one.shape.text(),
                       other->shape.text()));
      continue;
    }
    level.rows.push_back(difference(one, *other));
    values += one.shape.count();
    if (!same_bits(one, *other))
      fail(fmt::format("{} differs by {:.3g}, at most by {:.3g} of its largest value", one.name,
                       level.rows.back().error, level.rows.back().max_error));
  }
  for (std::size_t i = 0; i < b.size(); ++i)
    if (by_name ? !find(a, b[i].name) : i >= a.size()) fail(fmt::format("{} is only in the second file", b[i].name));
  if (level.passed)
    level.summary = fmt::format("{} tensors, {} values{}: shapes and bits", a.size(), values,
                                by_name ? "" : ", by their order, as no name is in both");
  return level;
}

}  // namespace trireme::compare
