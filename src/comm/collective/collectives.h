// Collectives: what ranks do together over one set of links. Each is called by all ranks in the same order with
// matching arguments; ranks that disagree, are gone or let the deadline pass are named in the error. One thread at a
// time.
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

  // In the subgroup of those who take part.
  int rank() const { return subgroup_.rank(); }
  int world() const { return subgroup_.world(); }

  // From now on among these ranks of the links only, numbered in this order; this rank is one of them. Their operations
  // are counted from `sequence` on, which is larger than any of theirs before: until now they may have been in
  // subgroups that counted differently.
  void among(const std::vector<int>& ranks, std::uint32_t sequence);

  // Of an operation in which nothing moves.
  void set_deadline(double seconds) { loop_->set_deadline(seconds); }

  // The number of the next operation.
  std::uint32_t sequence() const { return sequence_; }

  // Returns when all ranks have called it.
  void barrier();
  // data of the root to all.
  void broadcast(std::span<std::byte> data, int root);
  // Equal parts: of the root's `all` (empty elsewhere) to each rank's `own`, and back.
  void scatter(std::span<const std::byte> all, std::span<std::byte> own, int root);
  void gather(std::span<const std::byte> own, std::span<std::byte> all, int root);
  // all[r * own.size() ...] comes from rank r.
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all);
  // Part r of `send` goes to rank r, part r of `receive` comes from it; parts are equal.
  void all_to_all(std::span<const std::byte> send, std::span<std::byte> receive);

  // On the root, data becomes the reduction of all ranks'; elsewhere its content is lost.
  void reduce(std::span<float> data, Reduction how, int root);
  // data becomes the reduction of the data of ranks 0 to this one.
  void scan(std::span<float> data, Reduction how);
  // The slice of this rank (see slices.h) becomes the reduction of all ranks'; the content of the rest is lost.
  std::span<float> reduce_scatter(std::span<float> data, Reduction how);
  void all_reduce(std::span<float> data, Reduction how, Algorithm algorithm = Algorithm::automatic);
  // With the bits of the oar tree; see exact_all_reduce.h.
  void exact_all_reduce(const ExactPlan& plan, std::span<const std::span<float>> partials, std::span<float> result,
                        const UseSum& use = nullptr);
  // The same of so many floats where all ranks are of one host and what use() makes of the sum lies in memory that they
  // share: each makes its slice, and all return when everything is there. The partials lie in windows.
  void exact_use(const ExactPlan& plan, std::span<const std::span<float>> partials, std::int64_t floats,
                 const UseSum& use);
  // The slice of each rank (see slices.h) to all.
  void share_slices(std::span<float> data);

 private:
  Operation next(OperationKind kind, std::size_t bytes, int root = 0, int detail = 0);
  void finish(Reduction how, std::span<float> data, int ranks) const;  // the division of a mean
  // Measured by all ranks when it is first asked for, with the number of the operation that is chosen by it: so that is
  // asked for before the number is taken, and is none at which ranks meet.
  const LinkCost& link_cost();

  std::unique_ptr<ProgressLoop> loop_;
  Subgroup subgroup_;
  std::shared_ptr<const WindowSet> windows_;
  std::uint32_t sequence_ = 0;
  std::optional<LinkCost> link_cost_;
  std::vector<float> scratch_;
};

}  // namespace trireme::comm
