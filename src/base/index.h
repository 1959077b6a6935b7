// at: a signed number as an index of a container. REQUIRES: not negative.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trireme::base {

constexpr std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace trireme::base
