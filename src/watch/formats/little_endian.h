// Appends numbers to bytes, least significant byte first. Pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

namespace trireme::watch {

template <class Number>
void append_little_endian(std::string& bytes, Number number) {
  using Word = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
  static_assert(sizeof(Number) == sizeof(Word));
  const auto word = std::bit_cast<Word>(number);
  for (std::size_t byte = 0; byte < sizeof(Word); ++byte) bytes += static_cast<char>(word >> (8 * byte) & 0xff);
}

}  // namespace trireme::watch
