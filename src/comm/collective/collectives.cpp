#include "comm/collective/collectives.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "comm/collective/slices.h"
#include "comm/collective/window_all_reduce.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kShortBytes = 8192;  // up to here, messages beat a meeting in shared memory

Combine combine_of(Reduction how) { return how == Reduction::max ? Combine::max : Combine::sum; }

template <class T>
std::span<T> equal_part(std::span<T> all, int rank, std::size_t size) {
  return all.subspan(static_cast<std::size_t>(rank) * size, size);
}

void copy(std::span<const std::byte> from, std::span<std::byte> to) { std::copy(from.begin(), from.end(), to.begin()); }

}  // namespace

void Collectives::among(const std::vector<int>& ranks, std::uint32_t sequence) {
  base::check(sequence >= sequence_, "operations are counted from {} on, after {} of them", sequence, sequence_);
  subgroup_ = Subgroup(Subgroup(*loop_), ranks);
  sequence_ = sequence;
  link_cost_.reset();
}

Operation Collectives::next(OperationKind kind, std::size_t bytes, int root, int detail) {
  base::check(root >= 0 && root < world(), "{}: root {} of {} ranks", operation_name(kind), root, world());
  return {kind, static_cast<std::uint8_t>(detail), static_cast<std::int16_t>(root), sequence_++, bytes};
}

void Collectives::finish(Reduction how, std::span<float> data, int ranks) const {
  if (how == Reduction::mean)
    scale(data.data(), 1.0f / static_cast<float>(ranks), static_cast<std::int64_t>(data.size()));
}

// After step s, a rank knows that the 2^(s+1) - 1 ranks before it have arrived.
void Collectives::barrier() {
  const Operation operation = next(OperationKind::barrier, 0);
  for (int distance = 1; distance < world(); distance *= 2)
    subgroup_.run(operation, std::array{send_to((rank() + distance) % world(), {}),
                                        receive_from((rank() - distance % world() + world()) % world(), {})});
}

void Collectives::broadcast(std::span<std::byte> data, int root) {
  tree_broadcast(subgroup_, next(OperationKind::broadcast, data.size(), root), data, root);
}

void Collectives::scatter(std::span<const std::byte> all, std::span<std::byte> own, int root) {
  const Operation operation = next(OperationKind::scatter, own.size() * static_cast<std::size_t>(world()), root);
  if (rank() != root) return subgroup_.run(operation, std::array{receive_from(root, own)});
  base::check(all.size() == operation.bytes, "scatter of {} bytes to {} ranks of {}", all.size(), world(), own.size());
  std::vector<Transfer> transfers;
  for (int peer = 0; peer < world(); ++peer)
    if (peer != root) transfers.push_back(send_to(peer, equal_part(all, peer, own.size())));
  subgroup_.run(operation, transfers);
  copy(equal_part(all, root, own.size()), own);
}

void Collectives::gather(std::span<const std::byte> own, std::span<std::byte> all, int root) {
  const Operation operation = next(OperationKind::gather, own.size() * static_cast<std::size_t>(world()), root);
  if (rank() != root) return subgroup_.run(operation, std::array{send_to(root, own)});
  base::check(all.size() == operation.bytes, "gather of {} bytes from {} ranks of {}", all.size(), world(), own.size());
  std::vector<Transfer> transfers;
  for (int peer = 0; peer < world(); ++peer)
    if (peer != root) transfers.push_back(receive_from(peer, equal_part(all, peer, own.size())));
  subgroup_.run(operation, transfers);
  copy(own, equal_part(all, root, own.size()));
}

void Collectives::all_gather(std::span<const std::byte> own, std::span<std::byte> all) {
  const Operation operation = next(OperationKind::all_gather, all.size());
  base::check(all.size() == own.size() * static_cast<std::size_t>(world()),
              "all-gather of {} bytes from {} ranks of {}", all.size(), world(), own.size());
  if (subgroup_.has_barrier() && own.size() <= HostBarrier::kMost) {
    subgroup_.meet(operation, own);
    for (int peer = 0; peer < world(); ++peer) subgroup_.take_left(operation, peer, equal_part(all, peer, own.size()));
    return;
  }
  copy(own, equal_part(all, rank(), own.size()));
  direct_all_gather(subgroup_, operation, all, static_cast<std::int64_t>(own.size()));
}

void Collectives::all_to_all(std::span<const std::byte> send, std::span<std::byte> receive) {
  const Operation operation = next(OperationKind::all_to_all, send.size());
  const std::size_t part = send.size() / static_cast<std::size_t>(world());
  base::check(send.size() == receive.size() && part * static_cast<std::size_t>(world()) == send.size(),
              "all-to-all of {} and {} bytes over {} ranks", send.size(), receive.size(), world());
  std::vector<Transfer> transfers;
  for (int round = 1; round < world(); ++round) {
    const int to = (rank() + round) % world(), from = (rank() - round + world()) % world();
    transfers.push_back(send_to(to, equal_part(send, to, part)));
    transfers.push_back(receive_from(from, equal_part(receive, from, part)));
  }
  subgroup_.run(operation, transfers);
  copy(equal_part(send, rank(), part), equal_part(receive, rank(), part));
}

void Collectives::reduce(std::span<float> data, Reduction how, int root) {
  tree_reduce(subgroup_, next(OperationKind::reduce, data.size_bytes(), root, static_cast<int>(how)), data,
              combine_of(how), root);
  if (rank() == root) finish(how, data, world());
}

// After the step of distance d, data covers 2 d ranks, up to this one.
void Collectives::scan(std::span<float> data, Reduction how) {
  const Operation operation = next(OperationKind::scan, data.size_bytes(), 0, static_cast<int>(how));
  std::vector<float> sent;
  for (int distance = 1; distance < world(); distance *= 2) {
    std::vector<Transfer> transfers;
    sent.assign(data.begin(), data.end());
    if (rank() + distance < world()) transfers.push_back(send_to(rank() + distance, std::as_bytes(std::span(sent))));
    if (rank() - distance >= 0) transfers.push_back(combine_from(rank() - distance, data, combine_of(how)));
    subgroup_.run(operation, transfers);
  }
  finish(how, data, rank() + 1);
}

std::span<float> Collectives::reduce_scatter(std::span<float> data, Reduction how) {
  direct_reduce_scatter(subgroup_, next(OperationKind::reduce_scatter, data.size_bytes(), 0, static_cast<int>(how)),
                        data, combine_of(how));
  const auto own = slice_of(data, rank(), world());
  finish(how, own, world());
  return own;
}

void Collectives::all_reduce(std::span<float> data, Reduction how, Algorithm algorithm) {
  if (algorithm == Algorithm::automatic && data.size_bytes() > kShortBytes && windows_->find(data)) {
    algorithm_ = "in shared memory";
    window_all_reduce(subgroup_, next(OperationKind::window_all_reduce, data.size_bytes(), 0, static_cast<int>(how)),
                      *windows_, data, combine_of(how));
    return finish(how, data, world());
  }
  const AllReduce& chosen =
      find_all_reduce(algorithm, subgroup_.spread(), algorithm == Algorithm::automatic ? link_cost() : LinkCost{},
                      static_cast<std::int64_t>(data.size_bytes()));
  algorithm_ = chosen.name.data();  // a literal
  const int detail = static_cast<int>(how) * 16 + static_cast<int>(chosen.algorithm);
  chosen.run(subgroup_, next(OperationKind::all_reduce, data.size_bytes(), 0, detail), data, combine_of(how));
  finish(how, data, world());
}

void Collectives::exact_all_reduce(const ExactPlan& plan, std::span<const std::span<float>> partials,
                                   std::span<float> result, const UseSum& use) {
  const auto is_shared = [&](std::span<const float> array) { return windows_->find(array).has_value(); };
  if (result.size_bytes() > kShortBytes && is_shared(result) && std::ranges::all_of(partials, is_shared)) {
    algorithm_ = "exact, in shared memory";
    return window_exact_all_reduce(subgroup_,
                                   next(OperationKind::exact_window_all_reduce, result.size_bytes(), 0, use ? 1 : 0),
                                   *windows_, plan, partials, result, use);
  }
  const auto all = static_cast<std::int64_t>(plan.partials().size() * result.size_bytes());
  const bool whole =
      !use && all <= kMostWhole && link_cost().seconds({1, all}) <= link_cost().seconds({2, 2 * all / world()});
  const Operation operation = next(OperationKind::exact_all_reduce, result.size_bytes(), 0, use ? 1 : 0);
  algorithm_ = whole ? "exact, all to all" : "exact, slices";
  if (whole)
    comm::exact_whole_all_reduce(subgroup_, operation, plan, partials, result, scratch_);
  else
    comm::exact_all_reduce(subgroup_, operation, plan, partials, result, use, scratch_);
}

void Collectives::exact_use(const ExactPlan& plan, std::span<const std::span<float>> partials, std::int64_t floats,
                            const UseSum& use) {
  base::check(std::ranges::all_of(partials, [&](std::span<float> one) { return windows_->find(one).has_value(); }),
              "a partial that others cannot reach");
  algorithm_ = "exact, in shared memory";
  window_exact_use(subgroup_,
                   next(OperationKind::exact_window_all_reduce, static_cast<std::size_t>(floats) * sizeof(float), 0, 2),
                   *windows_, plan, partials, floats, use);
}

void Collectives::share_slices(std::span<float> data) {
  direct_all_gather(subgroup_, next(OperationKind::all_gather, data.size_bytes(), 0, 1), std::as_writable_bytes(data),
                    sizeof(float));
}

const LinkCost& Collectives::link_cost() {
  if (!link_cost_)
    link_cost_ = world() > 1 ? measure_link_cost(subgroup_, {OperationKind::measure, 0, 0, sequence_, 0}) : LinkCost{};
  return *link_cost_;
}

}  // namespace trireme::comm
