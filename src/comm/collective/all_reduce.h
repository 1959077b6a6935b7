// All-reduce algorithms: every rank ends with the combination of all ranks' floats, with equal bits on every rank.
// One caller per rank at a time.
// Each algorithm has a file of its own and one row in all_reduce.cpp; `automatic` picks the one with the lowest
// predicted cost. All ranks of a subgroup call the same function with equal counts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "comm/collective/elementwise.h"
#include "comm/collective/subgroup.h"

namespace trireme::comm {

enum class Algorithm : std::uint8_t { automatic, direct, whole, ring, halving, tree, hierarchical };

// The cost on the critical path, at the busiest rank: messages that must be waited for one after the other, and bytes
// sent or received (the larger of the two if both happen at once). The hierarchical all-reduce counts the bytes between
// hosts of all ranks of one host.
struct MessageCost {
  int steps = 0;
  std::int64_t bytes = 0;
};
// Measured link speed between the ranks of a subgroup: latency of a message, and seconds per byte that a rank sends.
struct LinkCost {
  double step_seconds = 2e-6, byte_seconds = 1e-10;

  double seconds(const MessageCost& cost) const {
    return cost.steps * step_seconds + static_cast<double>(cost.bytes) * byte_seconds;
  }
};

// `whole` is a candidate up to this many received bytes. Beyond, buffering and adding all arrays costs more than the
// second step of `direct`.
inline constexpr std::int64_t kMostWhole = std::int64_t{64} << 10;

struct AllReduce {
  Algorithm algorithm;
  std::string_view name, description;
  void (*run)(Subgroup&, const Operation&, std::span<float>, Combine);
  MessageCost (*cost)(Spread spread, std::int64_t bytes);
};
const std::vector<AllReduce>& all_reduce_list();
// The algorithm, or for `automatic` the fastest one for this many bytes.
const AllReduce& find_all_reduce(Algorithm algorithm, Spread spread, const LinkCost& link_cost, std::int64_t bytes);
Algorithm parse_algorithm(std::string_view name);  // unknown names are user errors

// Measured with a few messages around the ring of ranks; equal on all ranks.
LinkCost measure_link_cost(Subgroup& subgroup, const Operation& operation);

// Reduce-scatter, then all-gather, each in one step: every rank combines one slice and sends it to all others.
void direct_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost direct_cost(Spread spread, std::int64_t bytes);
// The two halves of direct_all_reduce: each rank combines its own slice of data; each rank sends its slice to all
// others.
void direct_reduce_scatter(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
void direct_all_gather(Subgroup& subgroup, const Operation& operation, std::span<std::byte> data,
                       std::int64_t item_bytes);
// Every rank sends all its data to all others and adds in the order of ranks.
void whole_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost whole_cost(Spread spread, std::int64_t bytes);
// Slices travel twice around the ring of ranks.
void ring_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost ring_cost(Spread spread, std::int64_t bytes);
// Recursive halving and doubling. If the world is not a power of two, surplus ranks first hand their data to a partner.
void halving_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost halving_cost(Spread spread, std::int64_t bytes);
// A reduction along a binomial tree to rank 0, then a broadcast back.
void tree_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost tree_cost(Spread spread, std::int64_t bytes);
// Reduce-scatter inside each host, then an all-reduce between hosts (each slice by its own rank), then all-gather
// inside each host.
void hierarchical_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how);
MessageCost hierarchical_cost(Spread spread, std::int64_t bytes);
// The two halves of tree_all_reduce, with any root.
void tree_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how, int root);
void tree_broadcast(Subgroup& subgroup, const Operation& operation, std::span<std::byte> data, int root);

}  // namespace trireme::comm
