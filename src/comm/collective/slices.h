// Slices: cut an array into one part per rank. Pure functions.
#pragma once

#include <cstddef>
#include <span>

#include "base/oar_tree.h"

namespace trireme::comm {

// A slice of this many bytes or more saturates the receiver: one sender at a time.
inline constexpr std::size_t kLongSlice = std::size_t{256} << 10;

// Part `index` of `parts` parts of `count` items; sizes differ by at most one.
inline base::Range slice(std::int64_t count, int index, int parts) {
  return {count * index / parts, count * (index + 1) / parts};
}

template <class T>
std::span<T> part_of(std::span<T> all, base::Range range) {
  return all.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.size()));
}

template <class T>
std::span<T> slice_of(std::span<T> all, int index, int parts) {
  return part_of(all, slice(static_cast<std::int64_t>(all.size()), index, parts));
}

}  // namespace trireme::comm
