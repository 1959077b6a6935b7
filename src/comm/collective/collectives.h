// Collectives: the collective operations of a group's ranks over one set of links.
// One caller at a time.
// All ranks call each operation in the same order with matching arguments. The error names a rank that disagrees, is
// gone or misses the deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/collective/all_reduce.h"
#include "comm/collective/exact_all_reduce.h"
#include "comm/collective/progress_loop.h"
#include "comm/transport/shared_memory/shared_window.h"

namespace trireme::comm {

enum class Reduction : std::uint8_t { sum, mean, max };

class Collectives {
 public:
  Collectives(std::unique_ptr<ProgressLoop> loop, std::shared_ptr<const WindowSet> windows)
      : loop_(std::move(loop)), subgroup_(*loop_), windows_(std::move(windows)) {}

  // Rank and world in the current subgroup.
  int rank() const { return subgroup_.rank(); }
  int world() const { return subgroup_.world(); }

  // Restricts further operations to these ranks of the links, numbered in this order; this rank must be among them.
  // Operations are then counted from `sequence`. The ranks may come from subgroups that counted differently, so
  // `sequence` must be at least sequence() of each of them.
  void among(const std::vector<int>& ranks, std::uint32_t sequence);

  // How long an operation may take without progress.
  void set_deadline(double seconds) { loop_->set_deadline(seconds); }

  // The rank of the links (in whatever subgroup) for which this one has waited longest since the last call; -1: none.
  int take_late() { return loop_->take_late(); }

  // How the last sum was made: "tree, in shared memory".
  const char* algorithm() const { return algorithm_; }

  // The sequence number of the next operation.
  std::uint32_t sequence() const { return sequence_; }

  // Returns when all ranks have called it.
  void barrier();
  // Copies data of the root to all ranks.
  void broadcast(std::span<std::byte> data, int root);
  // Parts are equal. scatter: part r of the root's `all` (empty elsewhere) becomes rank r's `own`. gather: the reverse.
  void scatter(std::span<const std::byte> all, std::span<std::byte> own, int root);
  void gather(std::span<const std::byte> own, std::span<std::byte> all, int root);
  // all[r * own.size() ...] comes from rank r.
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all);
  // Part r of `send` goes to rank r, part r of `receive` comes from it; parts are equal.
  void all_to_all(std::span<const std::byte> send, std::span<std::byte> receive);

  // On the root, data becomes the reduction over all ranks; elsewhere its content is lost.
  void reduce(std::span<float> data, Reduction how, int root);
  // data becomes the reduction over ranks 0 to this one.
  void scan(std::span<float> data, Reduction how);
  // This rank's slice (see slices.h) becomes the reduction over all ranks and is returned; the content of the rest is
  // lost.
  std::span<float> reduce_scatter(std::span<float> data, Reduction how);
  void all_reduce(std::span<float> data, Reduction how, Algorithm algorithm = Algorithm::automatic);
  // The sum with the bits of the oar tree; see exact_all_reduce.h.
  void exact_all_reduce(const ExactPlan& plan, std::span<const std::span<float>> partials, std::span<float> result,
                        const UseSum& use = nullptr);
  // The same for `floats` floats, if all ranks share a host and use() writes its output to memory that they share: each
  // rank handles its slice, and all return when every slice is done. REQUIRES: the partials lie in windows.
  void exact_use(const ExactPlan& plan, std::span<const std::span<float>> partials, std::int64_t floats,
                 const UseSum& use);
  // Sends the slice of each rank (see slices.h) to all others.
  void share_slices(std::span<float> data);

 private:
  Operation next(OperationKind kind, std::size_t bytes, int root = 0, int detail = 0);
  void finish(Reduction how, std::span<float> data, int ranks) const;  // divides for a mean
  // All ranks measure it on the first call. The measurement uses the sequence number of the operation that needs it, so
  // call this before next(). That operation must not be one at which ranks meet in shared memory.
  const LinkCost& link_cost();

  std::unique_ptr<ProgressLoop> loop_;
  Subgroup subgroup_;
  std::shared_ptr<const WindowSet> windows_;
  const char* algorithm_ = "";
  std::uint32_t sequence_ = 0;
  std::optional<LinkCost> link_cost_;
  std::vector<float> scratch_;
};

}  // namespace trireme::comm
