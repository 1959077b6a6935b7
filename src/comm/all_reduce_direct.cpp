#include <algorithm>
#include <cstring>
#include <vector>

#include "comm/all_reduce.h"
#include "comm/slices.h"

namespace trireme::comm {
namespace {

// Up to here a second round of messages costs more than sending all of it to everyone.
constexpr std::int64_t kShort = std::int64_t{8} << 10;
// From here on a slice keeps a receiver busy: one sender at a time.
constexpr std::size_t kLongSlice = std::size_t{256} << 10;

// Round by round, rank r to r + 1, r + 2, ...: nobody has two senders at a time. Short ones go all at once.
template <class Add>
void in_rounds(Port& port, const Operation& operation, std::size_t slice_bytes, const Add& add) {
  std::vector<Transfer> transfers;
  for (int round = 1; round < port.world(); ++round) {
    const int to = (port.rank() + round) % port.world(), from = (port.rank() - round + port.world()) % port.world();
    add(transfers, to, from);
    if (slice_bytes < kLongSlice) continue;
    port.run(operation, transfers);
    transfers.clear();
  }
  port.run(operation, transfers);
}

// All ranks add in the order of ranks, so that all get the same bits.
void exchange_whole(Port& port, const Operation& operation, std::span<float> data, Combine how) {
  const int world = port.world();
  std::vector<float> all(data.size() * static_cast<std::size_t>(world));
  const auto of_rank = [&](int rank) {
    return std::span(all).subspan(data.size() * static_cast<std::size_t>(rank), data.size());
  };
  std::vector<Transfer> transfers;
  for (int round = 1; round < world; ++round) {
    const int to = (port.rank() + round) % world, from = (port.rank() - round + world) % world;
    transfers.push_back(send_to(to, std::as_bytes(data)));
    transfers.push_back(receive_from(from, std::as_writable_bytes(of_rank(from))));
  }
  std::copy(data.begin(), data.end(), of_rank(port.rank()).begin());
  port.run(operation, transfers);
  const auto count = static_cast<std::int64_t>(data.size());
  for (int rank = 1; rank < world; ++rank) combine_into(how, all.data(), of_rank(rank).data(), count);
  std::copy_n(all.begin(), data.size(), data.begin());
}

bool is_short(int world, std::int64_t bytes) { return bytes * (world - 1) <= kShort; }

}  // namespace

void direct_reduce_scatter(Port& port, const Operation& operation, std::span<float> data, Combine how) {
  const int world = port.world();
  const auto own = slice_of(data, port.rank(), world);
  in_rounds(port, operation, own.size_bytes(), [&](std::vector<Transfer>& transfers, int to, int from) {
    transfers.push_back(send_to(to, std::as_bytes(slice_of(data, to, world))));
    transfers.push_back(combine_from(from, own, how));
  });
}

void direct_all_gather(Port& port, const Operation& operation, std::span<std::byte> data, std::int64_t item_bytes) {
  const int world = port.world();
  const auto count = static_cast<std::int64_t>(data.size()) / std::max<std::int64_t>(item_bytes, 1);
  const auto of_rank = [&](int rank) {
    const base::Range range = slice(count, rank, world);
    return part_of(data, {range.begin * item_bytes, range.end * item_bytes});
  };
  const auto own = of_rank(port.rank());
  in_rounds(port, operation, own.size(), [&](std::vector<Transfer>& transfers, int to, int from) {
    transfers.push_back(send_to(to, own));
    transfers.push_back(receive_from(from, of_rank(from)));
  });
}

void direct_all_reduce(Port& port, const Operation& operation, std::span<float> data, Combine how) {
  if (is_short(port.world(), static_cast<std::int64_t>(data.size_bytes())))
    return exchange_whole(port, operation, data, how);
  direct_reduce_scatter(port, operation, data, how);
  direct_all_gather(port, operation, std::as_writable_bytes(data), sizeof(float));
}

Cost direct_cost(int world, std::int64_t bytes) {
  if (is_short(world, bytes)) return {1, bytes * (world - 1)};
  return {2, 2 * bytes * (world - 1) / world};
}

}  // namespace trireme::comm
