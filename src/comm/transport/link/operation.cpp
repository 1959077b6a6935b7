#include "comm/transport/link/operation.h"

#include <fmt/format.h>

#include <array>

namespace trireme::comm {
namespace {
constexpr std::array kNames = {"barrier",
                               "broadcast",
                               "scatter",
                               "gather",
                               "all-gather",
                               "reduce",
                               "scan",
                               "reduce-scatter",
                               "all-reduce",
                               "exact all-reduce",
                               "all-reduce of shared memory",
                               "exact all-reduce of shared memory",
                               "all-to-all",
                               "measurement"};
static_assert(kNames.size() == static_cast<std::size_t>(OperationKind::measure) + 1);
}  // namespace

// The kind may come from a message, so it may have any value.
std::string operation_name(OperationKind kind) {
  const auto number = static_cast<std::size_t>(kind);
  return number < kNames.size() ? kNames[number] : fmt::format("unknown operation {}", number);
}

std::string describe(const Operation& operation) {
  return fmt::format("{} {} of {} bytes", operation_name(operation.kind), operation.sequence, operation.bytes);
}

}  // namespace trireme::comm
