#include <algorithm>
#include <cstring>
#include <vector>

#include "comm/collective/all_reduce.h"
#include "comm/collective/slices.h"

namespace trireme::comm {
namespace {

// In round i, rank r sends to r + i, so every rank has one sender at a time. Shorter slices are all sent at once.
template <class Add>
void in_rounds(Subgroup& subgroup, const Operation& operation, std::size_t slice_bytes, const Add& add) {
  std::vector<Transfer> transfers;
  for (int round = 1; round < subgroup.world(); ++round) {
    const int to = (subgroup.rank() + round) % subgroup.world(),
              from = (subgroup.rank() - round + subgroup.world()) % subgroup.world();
    add(transfers, to, from);
    if (slice_bytes < kLongSlice) continue;
    subgroup.run(operation, transfers);
    transfers.clear();
  }
  subgroup.run(operation, transfers);
}

}  // namespace

void direct_reduce_scatter(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how) {
  const int world = subgroup.world();
  const auto own = slice_of(data, subgroup.rank(), world);
  in_rounds(subgroup, operation, own.size_bytes(), [&](std::vector<Transfer>& transfers, int to, int from) {
    transfers.push_back(send_to(to, std::as_bytes(slice_of(data, to, world))));
    transfers.push_back(combine_from(from, own, how));
  });
}

void direct_all_gather(Subgroup& subgroup, const Operation& operation, std::span<std::byte> data,
                       std::int64_t item_bytes) {
  const int world = subgroup.world();
  const auto count = static_cast<std::int64_t>(data.size()) / std::max<std::int64_t>(item_bytes, 1);
  const auto of_rank = [&](int rank) {
    const base::Range range = slice(count, rank, world);
    return part_of(data, {range.begin * item_bytes, range.end * item_bytes});
  };
  const auto own = of_rank(subgroup.rank());
  in_rounds(subgroup, operation, own.size(), [&](std::vector<Transfer>& transfers, int to, int from) {
    transfers.push_back(send_to(to, own));
    transfers.push_back(receive_from(from, of_rank(from)));
  });
}

void direct_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how) {
  direct_reduce_scatter(subgroup, operation, data, how);
  direct_all_gather(subgroup, operation, std::as_writable_bytes(data), sizeof(float));
}

MessageCost direct_cost(Spread spread, std::int64_t bytes) {
  return {spread.world > 1 ? 2 : 0, 2 * bytes * (spread.world - 1) / spread.world};
}

// All ranks add in the order of ranks, so all get the same bits.
void whole_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how) {
  const int world = subgroup.world();
  std::vector<float> all(data.size() * static_cast<std::size_t>(world));
  const auto of_rank = [&](int rank) {
    return std::span(all).subspan(data.size() * static_cast<std::size_t>(rank), data.size());
  };
  std::vector<Transfer> transfers;
  for (int round = 1; round < world; ++round) {
    const int to = (subgroup.rank() + round) % world, from = (subgroup.rank() - round + world) % world;
    transfers.push_back(send_to(to, std::as_bytes(data)));
    transfers.push_back(receive_from(from, std::as_writable_bytes(of_rank(from))));
  }
  std::copy(data.begin(), data.end(), of_rank(subgroup.rank()).begin());
  subgroup.run(operation, transfers);
  const auto count = static_cast<std::int64_t>(data.size());
  for (int rank = 1; rank < world; ++rank) combine_into(how, all.data(), of_rank(rank).data(), count);
  std::copy_n(all.begin(), data.size(), data.begin());
}

MessageCost whole_cost(Spread spread, std::int64_t bytes) {
  return {spread.world > 1 ? 1 : 0, bytes * (spread.world - 1)};
}

}  // namespace trireme::comm
