// HostBarrier: ranks of one host come together through memory they share. Each leaves a few bytes for the others and
// goes on when all have come. Nobody is woken more than once, by whoever came last or by one who was woken before;
// messages would wake everybody as often as there are others.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/transport/link/operation.h"
#include "comm/transport/shared_memory/wakeup.h"

namespace trireme::comm {

class HostBarrier {
 public:
  static constexpr std::size_t kMost = 8128;  // bytes that one may leave

  static std::size_t bytes_for(int ranks);

  // `memory` is aligned to 64 bytes, zero before anybody comes. `wakeups` are those of all ranks.
  HostBarrier(void* memory, int rank, std::vector<Wakeup> wakeups);

  // Of the next barrier: this rank is there.
  void arrive(const Operation& operation, std::span<const std::byte> own);
  bool is_complete() const;
  // When it is: wakes those whom this rank has to wake.
  void pass_on();

  // Whether a rank has come to the barrier to which this one came last.
  bool has_arrived(int rank) const { return number_of(rank) >= number_; }
  // What it came for, and what it left there; of a complete barrier, until this rank comes to the next.
  const Operation& operation(int rank) const { return note(rank, number_).operation; }
  std::span<const std::byte> content(int rank) const;
  // What a rank came for that is at the next barrier already, or nothing.
  const Operation* ahead(int rank) const;

 private:
  // One rank's place. It may come to the next barrier while others still read what it left at this one, but not to the
  // one after that: hence two.
  struct Slot {
    struct Note {
      Operation operation;
      std::uint64_t bytes;
      std::byte content[kMost];
    };
    alignas(64) std::atomic<std::uint64_t> number;  // of the last barrier to which it came
    Note notes[2];
  };
  struct Table {
    alignas(64) std::atomic<std::uint64_t> arrived;      // to all barriers until now
    alignas(64) std::atomic<std::uint64_t> complete[2];  // the number of a barrier that is, and who came last to it
  };

  std::uint64_t complete() const { return table_->complete[number_ % 2].load(std::memory_order_acquire); }
  std::uint64_t number_of(int rank) const { return slot(rank).number.load(std::memory_order_acquire); }
  Slot& slot(int rank) const { return slots_[static_cast<std::size_t>(rank)]; }
  Slot::Note& note(int rank, std::uint64_t number) const { return slot(rank).notes[number % 2]; }

  Table* table_;
  Slot* slots_;
  int rank_;
  std::vector<Wakeup> wakeups_;
  std::uint64_t number_ = 0;  // of the barrier to which this rank came last
};

}  // namespace trireme::comm
