// HostBarrier: a barrier in shared memory between the ranks of one host; each leaves a few bytes for the others there.
// One object per rank; one caller at a time.
// Each rank is woken at most once, by the rank that arrived last or by one woken before (a tree). With messages, each
// rank would be woken once per other rank.
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
  static constexpr std::size_t kMost = 8128;  // bytes that a rank may leave

  static std::size_t bytes_for(int ranks);

  // REQUIRES: `memory` is aligned to 64 bytes and zero before the first rank uses it. `wakeups` are those of all ranks.
  HostBarrier(void* memory, int rank, std::vector<Wakeup> wakeups);

  // This rank arrives at its next barrier.
  void arrive(const Operation& operation, std::span<const std::byte> own);
  bool is_complete() const;
  // REQUIRES: is_complete(). Wakes the ranks that this rank has to wake.
  void pass_on();

  // Whether a rank has arrived at the barrier at which this rank arrived last.
  bool has_arrived(int rank) const { return number_of(rank) >= number_; }
  // The operation for which a rank arrived, and what it left. Valid while the barrier is complete, until this rank
  // arrives at the next one.
  const Operation& operation(int rank) const { return note(rank, number_).operation; }
  std::span<const std::byte> content(int rank) const;
  // If a rank has already arrived at the next barrier, the operation for which it did; else null.
  const Operation* ahead(int rank) const;

 private:
  // One rank's place. It may arrive at the next barrier while others still read its note of this one, but not at the
  // one after that: hence two notes.
  struct Slot {
    struct Note {
      Operation operation;
      std::uint64_t bytes;
      std::byte content[kMost];
    };
    alignas(64) std::atomic<std::uint64_t> number;  // the last barrier at which it arrived
    Note notes[2];
  };
  struct Table {
    alignas(64) std::atomic<std::uint64_t> arrived;      // arrivals at all barriers so far
    alignas(64) std::atomic<std::uint64_t> complete[2];  // number of a complete barrier, and who arrived last
  };

  std::uint64_t complete() const { return table_->complete[number_ % 2].load(std::memory_order_acquire); }
  std::uint64_t number_of(int rank) const { return slot(rank).number.load(std::memory_order_acquire); }
  Slot& slot(int rank) const { return slots_[static_cast<std::size_t>(rank)]; }
  Slot::Note& note(int rank, std::uint64_t number) const { return slot(rank).notes[number % 2]; }

  Table* table_;
  Slot* slots_;
  int rank_;
  std::vector<Wakeup> wakeups_;
  std::uint64_t number_ = 0;  // the barrier at which this rank arrived last
};

}  // namespace trireme::comm
