#include "comm/collective/exact_all_reduce.h"

#include <algorithm>
#include <utility>

#include "base/cpu/add_into.h"
#include "base/error.h"
#include "comm/collective/all_reduce.h"
#include "comm/collective/slices.h"

namespace trireme::comm {
namespace {

constexpr std::int64_t kTreeBlock = 2048;  // floats added per block, so that the block of every partial stays in cache

// The partials of one rank's slice, and which additions of the tree are done.
class Sums {
 public:
  Sums(const ExactPlan& plan, std::int64_t count)
      : plan_(plan),
        count_(count),
        at_(plan.partials().size()),
        is_coming_(at_.size()),
        is_done_(plan.additions().size()) {}

  void put(std::int64_t partial, float* floats) { at_[static_cast<std::size_t>(partial)] = floats; }
  // All partials that were being received have arrived.
  void arrive() { is_coming_.assign(is_coming_.size(), false); }

  // The floats of the sibling to which a partial can be added while it is received; null if there are none yet. Marks
  // the addition as done.
  float* take_sibling(std::int64_t coming) {
    std::vector<bool> waits = missing();
    for (std::size_t a = 0; a < is_done_.size(); ++a) {
      const auto [into, from] = ends(a);
      if (is_done_[a]) continue;
      if (into != static_cast<std::size_t>(coming) && from != static_cast<std::size_t>(coming)) {
        waits[into] = waits[from] = true;
        continue;
      }
      const std::size_t sibling = into == static_cast<std::size_t>(coming) ? from : into;
      if (waits[sibling]) return nullptr;
      is_done_[a] = is_coming_[into] = is_coming_[from] = true;
      return at_[into] = at_[sibling];  // a + b == b + a, bit for bit
    }
    return nullptr;
  }

  // Performs all additions whose operands are both complete.
  void add() {
    std::vector<bool> waits = missing();
    std::vector<std::size_t> ready;
    for (std::size_t a = 0; a < is_done_.size(); ++a) {
      if (is_done_[a]) continue;
      const auto [into, from] = ends(a);
      if (waits[into] || waits[from]) {
        waits[into] = waits[from] = true;
        continue;
      }
      is_done_[a] = true;
      ready.push_back(a);
    }
    for (std::int64_t begin = 0; begin < count_; begin += kTreeBlock)
      for (const std::size_t a : ready)
        base::add_into(at_[ends(a).first] + begin, at_[ends(a).second] + begin, std::min(kTreeBlock, count_ - begin));
  }

  const float* result() const { return at_[static_cast<std::size_t>(plan_.result())]; }

 private:
  std::pair<std::size_t, std::size_t> ends(std::size_t addition) const {
    const ExactPlan::Addition& one = plan_.additions()[addition];
    return {static_cast<std::size_t>(one.into), static_cast<std::size_t>(one.from)};
  }
  std::vector<bool> missing() const {
    std::vector<bool> all = is_coming_;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] || at_[i] == nullptr;
    return all;
  }

  const ExactPlan& plan_;
  std::int64_t count_;
  std::vector<float*> at_;  // per partial; null: not received yet
  std::vector<bool> is_coming_;
  std::vector<bool> is_done_;
};

void check_partials(const Subgroup& subgroup, const ExactPlan& plan, std::span<const std::span<float>> partials,
                    std::span<const float> result) {
  base::check(static_cast<std::int64_t>(partials.size()) == plan.of_rank(subgroup.rank()).size(),
              "rank {} has {} partials, the plan has {}", subgroup.rank(), partials.size(),
              plan.of_rank(subgroup.rank()).size());
  for (const auto& partial : partials)
    base::check(partial.size() == result.size(), "a partial of {} floats for a result of {}", partial.size(),
                result.size());
}

}  // namespace

void exact_all_reduce(Subgroup& subgroup, const Operation& operation, const ExactPlan& plan,
                      std::span<const std::span<float>> partials, std::span<float> result, const UseSum& use,
                      std::vector<float>& scratch) {
  check_partials(subgroup, plan, partials, result);
  const int world = subgroup.world(), rank = subgroup.rank();
  const base::Range own = plan.of_rank(rank);
  const auto slice = slice_of(result, rank, world);
  Sums sums(plan, static_cast<std::int64_t>(slice.size()));
  for (std::int64_t i = own.begin; i < own.end; ++i)
    sums.put(i, slice_of(partials[static_cast<std::size_t>(i - own.begin)], rank, world).data());
  sums.add();
  // Partials of this rank's slice are added to their sibling while they are received, or else received into scratch.
  if (const std::size_t most = slice.size() * (plan.partials().size() - partials.size()); scratch.size() < most)
    scratch.resize(most);
  std::size_t used = 0;
  std::vector<std::pair<std::int64_t, float*>> arriving;
  std::vector<Transfer> transfers;
  for (int round = 1; round < world; ++round) {
    const int to = (rank + round) % world, from = (rank - round + world) % world;
    for (const auto& partial : partials) transfers.push_back(send_to(to, std::as_bytes(slice_of(partial, to, world))));
    const base::Range theirs = plan.of_rank(from);
    for (std::int64_t i = theirs.begin; i < theirs.end; ++i) {
      if (float* sibling = sums.take_sibling(i)) {
        transfers.push_back(combine_from(from, {sibling, slice.size()}, Combine::sum));
        arriving.emplace_back(i, sibling);
        continue;
      }
      const auto memory = std::span(scratch).subspan(used, slice.size());
      used += slice.size();
      transfers.push_back(receive_from(from, std::as_writable_bytes(memory)));
      arriving.emplace_back(i, memory.data());
    }
    if (slice.size_bytes() < kLongSlice && round + 1 < world) continue;
    subgroup.run(operation, transfers);
    transfers.clear();
    for (const auto& [partial, floats] : std::exchange(arriving, {})) sums.put(partial, floats);
    sums.arrive();
    sums.add();
  }
  if (use)
    use(slice.data() - result.data(), {sums.result(), slice.size()});
  else if (sums.result() != slice.data())
    std::copy_n(sums.result(), slice.size(), slice.data());
  direct_all_gather(subgroup, operation, std::as_writable_bytes(result), sizeof(float));
}

void exact_whole_all_reduce(Subgroup& subgroup, const Operation& operation, const ExactPlan& plan,
                            std::span<const std::span<float>> partials, std::span<float> result,
                            std::vector<float>& scratch) {
  check_partials(subgroup, plan, partials, result);
  const std::size_t count = result.size();
  if (scratch.size() < count * plan.partials().size()) scratch.resize(count * plan.partials().size());
  const base::Range own = plan.of_rank(subgroup.rank());
  Sums sums(plan, static_cast<std::int64_t>(count));
  std::vector<Transfer> transfers;
  for (int round = 0; round < subgroup.world(); ++round) {
    const int to = (subgroup.rank() + round) % subgroup.world();
    const int from = (subgroup.rank() - round + subgroup.world()) % subgroup.world();
    const base::Range theirs = plan.of_rank(from);
    for (std::int64_t i = theirs.begin; i < theirs.end; ++i) {
      const auto memory = std::span(scratch).subspan(static_cast<std::size_t>(i) * count, count);
      sums.put(i, memory.data());
      if (round > 0)
        transfers.push_back(receive_from(from, std::as_writable_bytes(memory)));
      else
        std::ranges::copy(partials[static_cast<std::size_t>(i - own.begin)], memory.begin());
    }
    if (round == 0) continue;
    for (const auto& partial : partials) transfers.push_back(send_to(to, std::as_bytes(partial)));
  }
  subgroup.run(operation, transfers);
  sums.add();
  std::copy_n(sums.result(), count, result.begin());
}

}  // namespace trireme::comm
