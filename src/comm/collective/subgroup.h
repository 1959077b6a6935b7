// Subgroup: some or all ranks of a progress loop, numbered from 0 for the algorithms.
// One caller at a time.
#pragma once

#include <span>
#include <vector>

#include "comm/collective/progress_loop.h"

namespace trireme::comm {

// How many ranks on how many hosts.
struct Spread {
  int world = 1, hosts = 1;
};

class Subgroup {
 public:
  explicit Subgroup(ProgressLoop& loop);
  // Some ranks of another subgroup, by their numbers there, in any order; this rank must be among them.
  Subgroup(const Subgroup& whole, const std::vector<int>& some);

  int rank() const { return rank_; }
  int world() const { return static_cast<int>(ranks_.size()); }
  int loop_rank(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  Spread spread() const { return spread_; }
  // here(): the ranks on this rank's host, itself included. same_place(): from every host, the rank at this place of
  // its list.
  std::vector<int> here() const;
  std::vector<int> same_place(int place) const;
  int smallest_host() const;

  Traffic& traffic() { return loop_->traffic(); }
  void run(const Operation& operation, std::span<const Transfer> transfers);

  // The barrier, if the subgroup is all ranks of the progress loop and they share memory; see ProgressLoop.
  bool has_barrier() const { return is_whole_ && loop_->has_barrier(); }
  void meet(const Operation& operation, std::span<const std::byte> own) { loop_->meet(operation, own); }
  void take_left(const Operation& operation, int rank, std::span<std::byte> into) const {
    loop_->take_left(operation, rank, into);
  }

 private:
  std::vector<std::vector<int>> by_host() const;

  ProgressLoop* loop_;
  std::vector<int> ranks_;  // their numbers in the progress loop
  int rank_ = 0;
  bool is_whole_ = false;
  Spread spread_;
  std::vector<Transfer> translated_;  // transfers with numbers of the progress loop
};

}  // namespace trireme::comm
