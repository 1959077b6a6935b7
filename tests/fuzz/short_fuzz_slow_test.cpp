// A short run over every target with simple mutations: bits, bytes, pieces and lengths of valid content. What libFuzzer
// does for hours (`make fuzz`), here for a few seconds, always the same.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/targets.h"

namespace trireme::fuzz {
namespace {

constexpr int kRuns = 20000;

Bytes mutated(Bytes bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        if (!bytes.empty()) bytes[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<std::uint8_t>(random());
        break;
      case 2: bytes.resize(at); break;
      case 3:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), below(9), static_cast<std::uint8_t>(random()));
        break;
      case 4:
        for (std::size_t i = at; i < std::min(bytes.size(), at + 4); ++i) bytes[i] = random() % 2 == 0 ? 0xff : 0;
        break;
      default:
        if (!bytes.empty()) bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return bytes;
}

class ShortFuzz : public ::testing::TestWithParam<Target> {};

TEST_P(ShortFuzz, NothingButUserErrors) {
  const std::vector<Bytes> seeds = GetParam().seeds();
  for (const Bytes& seed : seeds) GetParam().read(seed);  // valid: no error at all
  std::mt19937 random(1);
  for (int i = 0; i < kRuns; ++i) run(GetParam(), mutated(seeds[random() % seeds.size()], random));
}

INSTANTIATE_TEST_SUITE_P(Readers, ShortFuzz, ::testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace trireme::fuzz
