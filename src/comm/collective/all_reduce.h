// All-reduce: every rank ends with the combination of all ranks' floats, with the same bits on every rank. One file per
// algorithm, one line each in all_reduce.cpp; `automatic` takes the one that should be done first. All are called by
// all ranks of a subgroup, with equal counts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "comm/collective/combine.h"
#include "comm/collective/subgroup.h"

namespace trireme::comm {

enum class Algorithm : std::uint8_t { automatic, direct, whole, ring, halving, tree, hierarchical };

// What happens one after the other at the rank that has the most to do: messages that must be waited for, and bytes
// that come or go (both at once count once; of the hierarchical one: those between hosts, of all ranks of a host).
struct MessageCost {
  int steps = 0;
  std::int64_t bytes = 0;
};
// What messages cost between the ranks of a subgroup: seconds of a step, and of each byte that a rank sends.
struct LinkCost {
  double step_seconds = 2e-6, byte_seconds = 1e-10;

  double seconds(const MessageCost& cost) const {
    return cost.steps * step_seconds + static_cast<double>(cost.bytes) * byte_seconds;
  }
};

// Bytes from all others up to which they may come whole: beyond, keeping and adding them costs more than a second step.
inline constexpr std::int64_t kMostWhole = std::int64_t{64} << 10;

struct AllReduce {
  Algorithm algorithm;
  std::string_view name, description;
  void (*run)(Subgroup&, const Operation&, std::span<float>, Combine);
  MessageCost (*cost)(Spread spread, std::int64_t bytes);
};
const std::vector<AllReduce>& all_reduce_list();
// The one of that name, or what `automatic` means for so many bytes.
const AllReduce& find_all_reduce(Algorithm algorithm, Spread spread, const LinkCost& link_cost, std::int64_t bytes);
Algorithm parse_algorithm(std::string_view name);  // unknown names are user errors

// From some messages round the subgroup; equal on all ranks.
LinkCost measure_link_cost(Subgroup& subgroup, const Operation& operation);

// Every rank combines a slice and hands it to all others.
void direct_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost direct_cost(Spread spread, std::int64_t bytes);
// Its two halves: data[slice of this rank] is combined; all slices go from their rank to all others.
void direct_reduce_scatter(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
void direct_all_gather(Subgroup& subgroup, const Operation& operation, std::span<std::byte> data,
                       std::int64_t item_bytes);
// Every rank sends all of it to all others, and adds in the order of ranks.
void whole_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost whole_cost(Spread spread, std::int64_t bytes);
// Slices travel round the ring of ranks, twice.
void ring_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost ring_cost(Spread spread, std::int64_t bytes);
// Recursive halving and doubling; ranks above a power of two hand their part to one below it first.
void halving_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost halving_cost(Spread spread, std::int64_t bytes);
// Up a binomial tree to rank 0 and down again.
void tree_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost tree_cost(Spread spread, std::int64_t bytes);
// Inside each host first, then between hosts, each slice by a rank of its own, then inside each host again.
void hierarchical_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost hierarchical_cost(Spread spread, std::int64_t bytes);
// Of the tree, its two halves, with any root.
void tree_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how, int root);
void tree_broadcast(Subgroup& subgroup, const Operation& operation, std::span<std::byte> data, int root);

}  // namespace trireme::comm
