// All-reduce: every rank ends with the combination of all ranks' floats, with the same bits on every rank. One file per
// algorithm, one line each in all_reduce.cpp; `automatic` chooses by size and world. All are called by all ranks of a
// port, with equal counts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "comm/combine.h"
#include "comm/port.h"

namespace trireme::comm {

enum class Algorithm : std::uint8_t { automatic, direct, ring, halving, tree };

// What one rank does one after the other: messages it must wait for, and bytes it sends.
struct Cost {
  int steps = 0;
  std::int64_t bytes = 0;
};

struct AllReduce {
  Algorithm algorithm;
  std::string_view name, description;
  void (*run)(Port&, const Operation&, std::span<float>, Combine);
  Cost (*cost)(int world, std::int64_t bytes);
};
const std::vector<AllReduce>& all_reduce_list();
// The one of that name, or what `automatic` means for so many bytes.
const AllReduce& find_all_reduce(Algorithm algorithm, int world, std::int64_t bytes);
Algorithm parse_algorithm(std::string_view name);  // unknown names are user errors

// Every rank combines a slice and hands it to all others; short arrays go to everyone whole.
void direct_all_reduce(Port& port, const Operation& operation, std::span<float> data, Combine how);
Cost direct_cost(int world, std::int64_t bytes);
// Its two halves: data[slice of this rank] is combined; all slices go from their rank to all others.
void direct_reduce_scatter(Port& port, const Operation& operation, std::span<float> data, Combine how);
void direct_all_gather(Port& port, const Operation& operation, std::span<std::byte> data, std::int64_t item_bytes);
// Slices travel round the ring of ranks, twice.
void ring_all_reduce(Port& port, const Operation& operation, std::span<float> data, Combine how);
Cost ring_cost(int world, std::int64_t bytes);
// Recursive halving and doubling; ranks above a power of two hand their part to one below it first.
void halving_all_reduce(Port& port, const Operation& operation, std::span<float> data, Combine how);
Cost halving_cost(int world, std::int64_t bytes);
// Up a binomial tree to rank 0 and down again.
void tree_all_reduce(Port& port, const Operation& operation, std::span<float> data, Combine how);
Cost tree_cost(int world, std::int64_t bytes);
// Its two halves, with any root.
void tree_reduce(Port& port, const Operation& operation, std::span<float> data, Combine how, int root);
void tree_broadcast(Port& port, const Operation& operation, std::span<std::byte> data, int root);

}  // namespace trireme::comm
