#include "comm/collective/window_all_reduce.h"

#include <algorithm>
#include <cstring>

#include "base/cpu/simd.h"
#include "base/error.h"
#include "comm/collective/slices.h"

namespace trireme::comm {
namespace {

constexpr std::int64_t kWindowBlock = 8192;  // floats combined per block, so that the block stays in cache
constexpr std::int64_t kFew = 64;            // floats that go through the whole tree at a time

std::size_t bytes_of(std::int64_t floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

// Exchanges the addresses of all ranks' arrays and returns the arrays; rank r has counts[r] of them. All ranks have
// arrived when it returns, so the arrays' contents are complete.
std::vector<std::vector<std::span<float>>> meet(Subgroup& subgroup, const Operation& operation,
                                                const WindowSet& windows, std::span<const std::span<float>> own,
                                                const std::vector<std::size_t>& counts, std::size_t length) {
  std::vector<std::vector<WindowAddress>> places;
  for (const std::size_t count : counts) places.emplace_back(count);
  auto& mine = places[static_cast<std::size_t>(subgroup.rank())];
  std::transform(own.begin(), own.end(), mine.begin(), [&](std::span<float> array) { return *windows.find(array); });
  if (subgroup.has_barrier() && *std::ranges::max_element(counts) * sizeof(WindowAddress) <= HostBarrier::kMost) {
    subgroup.meet(operation, std::as_bytes(std::span(mine)));
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
      subgroup.take_left(operation, static_cast<int>(rank), std::as_writable_bytes(std::span(places[rank])));
  } else {
    std::vector<Transfer> transfers;
    for (int round = 1; round < subgroup.world(); ++round) {
      const int to = (subgroup.rank() + round) % subgroup.world(),
                from = (subgroup.rank() - round + subgroup.world()) % subgroup.world();
      transfers.push_back(send_to(to, std::as_bytes(std::span(mine))));
      transfers.push_back(
          receive_from(from, std::as_writable_bytes(std::span(places[static_cast<std::size_t>(from)]))));
    }
    subgroup.run(operation, transfers);
  }
  std::vector<std::vector<std::span<float>>> arrays(counts.size());
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    for (const WindowAddress& place : places[rank]) {
      arrays[rank].push_back(windows.at(subgroup.loop_rank(static_cast<int>(rank)), place, length));
      if (length > 0 && arrays[rank].back().empty())
        base::run_error("rank {}, {}: rank {} names an array at {} of window {}, which is not there",
                        subgroup.loop_rank(subgroup.rank()), describe(operation),
                        subgroup.loop_rank(static_cast<int>(rank)), place.offset, place.window);
    }
  return arrays;
}

// Returns when all ranks have written their slices.
void leave_together(Subgroup& subgroup, const Operation& operation) {
  if (subgroup.has_barrier()) return subgroup.meet(operation, {});
  std::vector<Transfer> transfers;
  for (int peer = 0; peer < subgroup.world(); ++peer) {
    if (peer == subgroup.rank()) continue;
    transfers.push_back(send_to(peer, {}));
    transfers.push_back(receive_from(peer, {}));
  }
  subgroup.run(operation, transfers);
}

// combine(first, count, out) writes the combined floats of a block to the result of rank `one`, from which they are
// copied to all other results.
template <class CombineBlock>
void write_slice(Subgroup& subgroup, std::int64_t length, const std::vector<float*>& results, int one,
                 const CombineBlock& combine) {
  const base::Range mine = slice(length, subgroup.rank(), subgroup.world());
  const float* source = results[static_cast<std::size_t>(one)];
  for (std::int64_t at = mine.begin; at < mine.end; at += kWindowBlock) {
    const std::int64_t count = std::min(kWindowBlock, mine.end - at);
    combine(at, count, results[static_cast<std::size_t>(one)] + at);
    for (float* result : results)
      if (result != source) std::memcpy(result + at, source + at, bytes_of(count));
  }
}

// Counts the bytes that messages would carry: a rank receives its slice of all other ranks' arrays, and sends its slice
// of the result to all other ranks. Results in one shared place count the same, so that reported traffic does not
// depend on where workers are placed.
void count_traffic(Subgroup& subgroup, std::size_t length, std::size_t own, std::size_t all) {
  const auto mine = bytes_of(slice(static_cast<std::int64_t>(length), subgroup.rank(), subgroup.world()).size());
  const std::size_t rest = length * sizeof(float) - mine;
  subgroup.traffic().add(own * rest + static_cast<std::size_t>(subgroup.world() - 1) * mine, (all - own) * mine + rest);
}

// Adds all partials along the tree, kFew floats of each at a time, so that every array is read as one stream.
struct AddUp {
  struct Tree {
    std::span<const ExactPlan::Addition> additions;  // at least one
    const float* const* at;                          // per partial
    const float** sums;                              // per partial: its sum so far
    float* memory;                                   // kFew floats per partial
  };
  TRIREME_INLINE static void run(Tree tree, std::size_t partials, float* out, std::int64_t count) {
    for (std::int64_t first = 0; first < count; first += kFew) {
      const std::int64_t few = std::min(kFew, count - first);
      for (std::size_t i = 0; i < partials; ++i) tree.sums[i] = tree.at[i] + first;
      for (std::size_t a = 0; a < tree.additions.size(); ++a) {
        const auto into = static_cast<std::size_t>(tree.additions[a].into);
        const float* left = tree.sums[into];
        const float* right = tree.sums[static_cast<std::size_t>(tree.additions[a].from)];
        float* sum = a + 1 == tree.additions.size() ? out + first : tree.memory + into * std::size_t{kFew};
#pragma GCC ivdep
        for (std::int64_t i = 0; i < few; ++i) sum[i] = left[i] + right[i];
        tree.sums[into] = sum;
      }
    }
  }
};

// Sums blocks of the partials of all ranks along the tree.
class TreeSum {
 public:
  TreeSum(const ExactPlan& plan, const std::vector<std::vector<std::span<float>>>& arrays) : plan_(plan) {
    for (const auto& of_rank : arrays)
      for (const std::span<float> array : of_rank) arrays_.push_back(array.data());
    places_.resize(arrays_.size());
    sums_.resize(arrays_.size());
    memory_.resize(arrays_.size() * static_cast<std::size_t>(kFew));
  }

  void add_up(std::int64_t first, std::int64_t count, float* out) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) places_[i] = arrays_[i] + first;
    if (plan_.additions().empty())
      std::memmove(out, places_[static_cast<std::size_t>(plan_.result())], bytes_of(count));
    else
      base::dispatch<AddUp>(AddUp::Tree{plan_.additions(), places_.data(), sums_.data(), memory_.data()},
                            arrays_.size(), out, count);
  }

 private:
  const ExactPlan& plan_;
  std::vector<const float*> arrays_, places_, sums_;
  std::vector<float> memory_;
};

// The number of arrays of each rank: its partials and `others` more.
std::vector<std::size_t> arrays_of_ranks(const Subgroup& subgroup, const ExactPlan& plan, std::size_t others) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < subgroup.world(); ++rank)
    counts.push_back(others + static_cast<std::size_t>(plan.of_rank(rank).size()));
  return counts;
}

}  // namespace

void window_all_reduce(Subgroup& subgroup, const Operation& operation, const WindowSet& windows, std::span<float> data,
                       Combine how) {
  const auto arrays = meet(subgroup, operation, windows, std::span(&data, 1),
                           std::vector<std::size_t>(static_cast<std::size_t>(subgroup.world()), 1), data.size());
  std::vector<float*> at;
  for (const auto& of_rank : arrays) at.push_back(of_rank[0].data());
  count_traffic(subgroup, data.size(), 1, at.size());
  write_slice(subgroup, static_cast<std::int64_t>(data.size()), at, 0,
              [&](std::int64_t first, std::int64_t count, float* out) {  // out lies in rank 0's array
                for (std::size_t rank = 1; rank < at.size(); ++rank) combine_into(how, out, at[rank] + first, count);
              });
  leave_together(subgroup, operation);
}

void window_exact_all_reduce(Subgroup& subgroup, const Operation& operation, const WindowSet& windows,
                             const ExactPlan& plan, std::span<const std::span<float>> partials, std::span<float> result,
                             const UseSum& use) {
  // A rank names its result and then its partials.
  std::vector<std::span<float>> own{result};
  own.insert(own.end(), partials.begin(), partials.end());
  auto arrays = meet(subgroup, operation, windows, own, arrays_of_ranks(subgroup, plan, 1), result.size());
  std::vector<float*> results;
  for (auto& of_rank : arrays) {
    results.push_back(of_rank[0].data());
    of_rank.erase(of_rank.begin());
  }
  TreeSum sum(plan, arrays);
  std::vector<float> block(use ? std::size_t{kWindowBlock} : 0);
  count_traffic(subgroup, result.size(), partials.size(), plan.partials().size());
  write_slice(subgroup, static_cast<std::int64_t>(result.size()), results, subgroup.rank(),
              [&](std::int64_t first, std::int64_t count, float* out) {
                if (!use) return sum.add_up(first, count, out);
                sum.add_up(first, count, block.data());
                use(first, {block.data(), static_cast<std::size_t>(count)});
              });
  leave_together(subgroup, operation);
}

void window_exact_use(Subgroup& subgroup, const Operation& operation, const WindowSet& windows, const ExactPlan& plan,
                      std::span<const std::span<float>> partials, std::int64_t length, const UseSum& use) {
  const auto floats = static_cast<std::size_t>(length);
  TreeSum sum(plan, meet(subgroup, operation, windows, partials, arrays_of_ranks(subgroup, plan, 0), floats));
  std::vector<float> block(std::size_t{kWindowBlock});
  count_traffic(subgroup, floats, partials.size(), plan.partials().size());
  const base::Range mine = slice(length, subgroup.rank(), subgroup.world());
  for (std::int64_t at = mine.begin; at < mine.end; at += kWindowBlock) {
    const std::int64_t count = std::min(kWindowBlock, mine.end - at);
    sum.add_up(at, count, block.data());
    use(at, {block.data(), static_cast<std::size_t>(count)});
  }
  leave_together(subgroup, operation);
}

}  // namespace trireme::comm
