#include "comm/collective/subgroup.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"

namespace trireme::comm {

Subgroup::Subgroup(ProgressLoop& loop)
    : loop_(&loop), ranks_(static_cast<std::size_t>(loop.world())), rank_(loop.rank()), is_whole_(true) {
  std::iota(ranks_.begin(), ranks_.end(), 0);
  spread_ = {world(), static_cast<int>(by_host().size())};
}

Subgroup::Subgroup(const Subgroup& whole, const std::vector<int>& some) : loop_(whole.loop_) {
  for (const int rank : some) {
    base::check(rank >= 0 && rank < whole.world(), "a subgroup with rank {} of {}", rank, whole.world());
    ranks_.push_back(whole.loop_rank(rank));
  }
  base::check(std::set(ranks_.begin(), ranks_.end()).size() == ranks_.size(), "a subgroup with one rank twice");
  const auto own = std::find(ranks_.begin(), ranks_.end(), loop_->rank());
  base::check(own != ranks_.end(), "rank {} is not in its own subgroup", loop_->rank());
  rank_ = static_cast<int>(own - ranks_.begin());
  is_whole_ = world() == loop_->world() && std::ranges::is_sorted(ranks_);
  spread_ = {world(), static_cast<int>(by_host().size())};
}

std::vector<std::vector<int>> Subgroup::by_host() const {
  std::map<int, std::vector<int>> hosts;
  for (int rank = 0; rank < world(); ++rank) hosts[loop_->host_of(loop_rank(rank))].push_back(rank);
  std::vector<std::vector<int>> all;
  for (auto& [host, ranks] : hosts) all.push_back(std::move(ranks));
  return all;
}

std::vector<int> Subgroup::here() const {
  for (std::vector<int>& ranks : by_host())
    if (std::ranges::count(ranks, rank_) > 0) return ranks;
  return {};
}

std::vector<int> Subgroup::same_place(int place) const {
  std::vector<int> ranks;
  for (const std::vector<int>& host : by_host()) ranks.push_back(host[static_cast<std::size_t>(place)]);
  std::ranges::sort(ranks);
  return ranks;
}

int Subgroup::smallest_host() const {
  std::size_t smallest = ranks_.size();
  for (const std::vector<int>& host : by_host()) smallest = std::min(smallest, host.size());
  return static_cast<int>(smallest);
}

void Subgroup::run(const Operation& operation, std::span<const Transfer> transfers) {
  if (is_whole_) return loop_->run(operation, transfers);
  translated_.assign(transfers.begin(), transfers.end());
  for (Transfer& transfer : translated_) transfer.peer = loop_rank(transfer.peer);
  loop_->run(operation, translated_);
}

}  // namespace trireme::comm
