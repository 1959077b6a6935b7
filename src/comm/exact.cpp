#include "comm/exact.h"

#include <algorithm>

#include "base/add_into.h"
#include "base/error.h"
#include "comm/all_reduce.h"
#include "comm/slices.h"

namespace trireme::comm {
namespace {

constexpr std::int64_t kBlock = 2048;  // floats of every partial that are added up while they lie in a cache

// Adds up [0, count) of all partials.
void add_up(const ExactPlan& plan, const std::vector<float*>& at, std::int64_t count) {
  for (std::int64_t begin = 0; begin < count; begin += kBlock)
    for (const ExactPlan::Addition& addition : plan.additions())
      base::add_into(at[static_cast<std::size_t>(addition.into)] + begin,
                     at[static_cast<std::size_t>(addition.from)] + begin, std::min(kBlock, count - begin));
}

}  // namespace

void exact_all_reduce(Port& port, const Operation& operation, const ExactPlan& plan,
                      std::span<const std::span<float>> partials, std::span<float> result) {
  const int world = port.world(), rank = port.rank();
  const base::Range own = plan.of_rank(rank);
  base::check(static_cast<std::int64_t>(partials.size()) == own.size(), "rank {} has {} partials, the plan has {}",
              rank, partials.size(), own.size());
  for (const auto& partial : partials)
    base::check(partial.size() == result.size(), "a partial of {} floats for a result of {}", partial.size(),
                result.size());
  // What others hold of this rank's slice comes to memory of its own.
  const auto slice = slice_of(result, rank, world);
  std::vector<float> come(slice.size() * (plan.partials().size() - partials.size()));
  std::vector<float*> at(plan.partials().size());
  std::vector<Transfer> transfers;
  std::size_t used = 0;
  for (int round = 0; round < world; ++round) {
    const int to = (rank + round) % world, from = (rank - round + world) % world;
    for (const auto& partial : partials)
      if (round > 0) transfers.push_back(send_to(to, std::as_bytes(slice_of(partial, to, world))));
    const base::Range theirs = plan.of_rank(from);
    for (std::int64_t i = theirs.begin; i < theirs.end; ++i) {
      float*& place = at[static_cast<std::size_t>(i)];
      if (round == 0) {
        place = slice_of(partials[static_cast<std::size_t>(i - theirs.begin)], rank, world).data();
        continue;
      }
      const auto memory = std::span(come).subspan(used, slice.size());
      used += slice.size();
      place = memory.data();
      transfers.push_back(receive_from(from, std::as_writable_bytes(memory)));
    }
  }
  port.run(operation, transfers);
  add_up(plan, at, static_cast<std::int64_t>(slice.size()));
  if (const float* sum = at[static_cast<std::size_t>(plan.result())]; sum != slice.data())
    std::copy_n(sum, slice.size(), slice.data());
  direct_all_gather(port, operation, std::as_writable_bytes(result), sizeof(float));
}

}  // namespace trireme::comm
