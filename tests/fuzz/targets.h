// What is fuzzed: every reader of files and of the network, on bytes from anywhere. A target returns for valid content
// and for content that the reader refuses with a user error; anything else (a crash, another exception, a sanitizer's
// finding) is a bug. Driven by libFuzzer (fuzz/, `make fuzz`) and, for a short while, by the slow tests.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace trireme::fuzz {

using Bytes = std::vector<std::uint8_t>;

struct Target {
  std::string_view name;
  void (*read)(std::span<const std::uint8_t> bytes);
  std::vector<Bytes> (*seeds)();  // valid content to begin with
};

std::span<const Target> targets();
// Null when there is none of that name.
const Target* find_target(std::string_view name);

// Runs a target; user errors are as good as success.
void run(const Target& target, std::span<const std::uint8_t> bytes);

}  // namespace trireme::fuzz
