#include <array>
#include <bit>
#include <vector>

#include "comm/collective/all_reduce.h"
#include "comm/collective/slices.h"

namespace trireme::comm {

// `core` is the largest power of two <= world. Pairs of the first `core` ranks, at distances core / 2, ..., 1, exchange
// halves of what they share, until each has one combined slice; on the way back the slices double. Rank core + i sends
// its floats to rank i first and gets the result from it.
void halving_all_reduce(Subgroup& subgroup, const Operation& operation, std::span<float> data, Combine how) {
  const int world = subgroup.world(), rank = subgroup.rank();
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(world)));
  if (rank >= core) {
    subgroup.run(operation, std::array{send_to(rank - core, std::as_bytes(data))});
    subgroup.run(operation, std::array{receive_from(rank - core, std::as_writable_bytes(data))});
    return;
  }
  const bool has_guest = rank + core < world;
  if (has_guest) subgroup.run(operation, std::array{combine_from(rank + core, data, how)});
  std::vector<base::Range> kept{{0, static_cast<std::int64_t>(data.size())}};
  for (int distance = core / 2; distance > 0; distance /= 2) {
    const base::Range whole = kept.back();
    const std::int64_t middle = whole.begin + whole.size() / 2;
    const base::Range low{whole.begin, middle}, high{middle, whole.end};
    const bool keeps_low = (rank & distance) == 0;
    subgroup.run(operation, std::array{send_to(rank ^ distance, std::as_bytes(part_of(data, keeps_low ? high : low))),
                                       combine_from(rank ^ distance, part_of(data, keeps_low ? low : high), how)});
    kept.push_back(keeps_low ? low : high);
  }
  for (int distance = 1; distance < core; distance *= 2) {
    const base::Range own = kept.back();
    kept.pop_back();
    const base::Range whole = kept.back();
    const bool has_low = (rank & distance) == 0;
    const base::Range other = has_low ? base::Range{own.end, whole.end} : base::Range{whole.begin, own.begin};
    subgroup.run(operation, std::array{send_to(rank ^ distance, std::as_bytes(part_of(data, own))),
                                       receive_from(rank ^ distance, std::as_writable_bytes(part_of(data, other)))});
  }
  if (has_guest) subgroup.run(operation, std::array{send_to(rank + core, std::as_bytes(data))});
}

MessageCost halving_cost(Spread spread, std::int64_t bytes) {
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(spread.world)));
  const int levels = std::bit_width(static_cast<unsigned>(core)) - 1;
  const std::int64_t guests = spread.world > core ? 1 : 0;
  return {2 * levels + 2 * static_cast<int>(guests), 2 * bytes * (core - 1) / core + 2 * guests * bytes};
}

}  // namespace trireme::comm
