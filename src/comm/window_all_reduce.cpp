#include "comm/window_all_reduce.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "comm/slices.h"

namespace trireme::comm {
namespace {

constexpr std::int64_t kBlock = 2048;  // floats that stay in the first-level cache while they are combined

// Where in which window a rank's array lies.
struct Place {
  std::uint32_t window = 0, unused = 0;
  std::uint64_t offset = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

// All ranks tell all others; returns when all have.
void tell_all(Port& port, const Operation& operation, const Place& own) {
  std::vector<Place> places(static_cast<std::size_t>(port.world()));
  std::vector<Transfer> transfers;
  for (int round = 1; round < port.world(); ++round) {
    const int to = (port.rank() + round) % port.world(), from = (port.rank() - round + port.world()) % port.world();
    transfers.push_back(send_to(to, std::as_bytes(std::span(&own, 1))));
    transfers.push_back(
        receive_from(from, std::as_writable_bytes(std::span(&places[static_cast<std::size_t>(from)], 1))));
  }
  port.run(operation, transfers);
  for (int rank = 0; rank < port.world(); ++rank)
    if (const Place& place = places[static_cast<std::size_t>(rank)]; rank != port.rank() && place != own)
      base::run_error("rank {}, {}: its array begins at {} of window {}, that of rank {} at {} of window {}",
                      port.rank(), describe(operation), own.offset, own.window, rank, place.offset, place.window);
}

}  // namespace

void window_all_reduce(Port& port, const Operation& operation, const Window& window, std::span<float> data,
                       Combine how) {
  const auto* begin = reinterpret_cast<const std::byte*>(data.data());
  const Place own{window.number(), 0, static_cast<std::uint64_t>(begin - window.own().data())};
  std::vector<float*> arrays;
  for (int rank = 0; rank < port.world(); ++rank)
    arrays.push_back(reinterpret_cast<float*>(window.part(rank).data() + own.offset));
  tell_all(port, operation, own);
  const base::Range mine = slice(static_cast<std::int64_t>(data.size()), port.rank(), port.world());
  std::array<float, kBlock> block;
  for (std::int64_t at = mine.begin; at < mine.end; at += kBlock) {
    const std::int64_t count = std::min(kBlock, mine.end - at);
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
    std::memcpy(block.data(), arrays[0] + at, bytes);
    for (std::size_t rank = 1; rank < arrays.size(); ++rank) combine_into(how, block.data(), arrays[rank] + at, count);
    for (float* array : arrays) std::memcpy(array + at, block.data(), bytes);
  }
  tell_all(port, operation, own);
}

}  // namespace trireme::comm
