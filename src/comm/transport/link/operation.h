// Operation: identifies one operation of a group. A plain value.
// Every message carries it. Ranks that disagree fail at once, with both sides named, instead of hanging or mixing data.
#pragma once

#include <cstdint>
#include <string>

namespace trireme::comm {

enum class OperationKind : std::uint8_t {
  barrier,
  broadcast,
  scatter,
  gather,
  all_gather,
  reduce,
  scan,
  reduce_scatter,
  all_reduce,
  exact_all_reduce,
  window_all_reduce,
  exact_window_all_reduce,
  all_to_all,
  measure,
};
std::string operation_name(OperationKind kind);

struct Operation {
  OperationKind kind = OperationKind::barrier;
  std::uint8_t detail = 0;  // kind of sum, or algorithm: anything else that must be equal on all ranks
  std::int16_t root = 0;
  std::uint32_t sequence = 0;  // counts the operations of a group; see Collectives::among()
  std::uint64_t bytes = 0;     // of the whole operation

  friend bool operator==(const Operation&, const Operation&) = default;
};

// "all-reduce 17 of 4000 bytes".
std::string describe(const Operation& operation);

}  // namespace trireme::comm
