// Group: ranks that work together. Every collective is called by all ranks of the group in the same order with matching
// arguments; ranks that disagree, are gone or let the deadline pass are named in the error. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/all_reduce.h"
#include "comm/exact.h"
#include "comm/port.h"
#include "comm/window.h"

namespace trireme::comm {

class Company;

enum class Reduction : std::uint8_t { sum, mean, max };

class Group {
 public:
  // `memory` is there where all ranks share a host.
  Group(std::unique_ptr<Port> port, std::shared_ptr<HostMemory> memory)
      : memory_(std::move(memory)), port_(std::move(port)) {}

  // What must live as long as the group, and gives it back when its links are to be cut.
  void keep(std::shared_ptr<Company> company) { company_ = std::move(company); }
  std::shared_ptr<Company> leave();

  int rank() const { return port_->rank(); }
  int world() const { return port_->world(); }

  // Memory, zero at first, that all-reduces work on where it lies instead of sending copies: where all ranks share a
  // host, and all of them name such memory. Called by all ranks, with equal sizes.
  std::shared_ptr<const Window> allocate(std::size_t bytes);

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
  // With the bits of the oar tree; see exact.h.
  void exact_all_reduce(const ExactPlan& plan, std::span<const std::span<float>> partials, std::span<float> result);

 private:
  Operation next(OperationKind kind, std::size_t bytes, int root = 0, int detail = 0);
  void finish(Reduction how, std::span<float> data, int ranks) const;  // the division of a mean

  std::shared_ptr<Company> company_;
  std::shared_ptr<HostMemory> memory_;
  WindowSet windows_;
  std::unique_ptr<Port> port_;
  std::uint32_t sequence_ = 0;
};

}  // namespace trireme::comm
