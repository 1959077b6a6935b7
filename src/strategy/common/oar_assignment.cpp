#include "strategy/common/oar_assignment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/index.h"
#include "base/text/text.h"

namespace trireme::strategy {
namespace {

using base::at;

double seconds_of(std::int64_t oars, const WorkerSpeed& speed) {
  const std::int64_t rounds = (oars + speed.threads - 1) / speed.threads;
  return static_cast<double>(rounds) * speed.round_seconds;
}

// The most oars that this worker completes within `seconds`.
int most_oars(double seconds, int oars, const WorkerSpeed& speed) {
  int least = 0, most = oars;
  while (least < most) {
    const int middle = (least + most + 1) / 2;
    if (seconds_of(middle, speed) <= seconds)
      least = middle;
    else
      most = middle - 1;
  }
  return least;
}

int partials_of(int oars, base::Range share) {
  return share.empty() ? 0 : static_cast<int>(base::oar_partials(oars, share).size());
}

constexpr double kNever = std::numeric_limits<double>::infinity();

// The least time in which the workers can compute `oars` oars: the earliest end of a round at which all workers
// together have completed enough.
double least_makespan(int oars, const std::vector<WorkerSpeed>& workers) {
  std::vector<double> ends;
  for (const WorkerSpeed& speed : workers)
    for (int computed = 1; computed <= oars; computed += speed.threads) ends.push_back(seconds_of(computed, speed));
  std::ranges::sort(ends);
  const auto is_enough = [&](double seconds) {
    std::int64_t computed = 0;
    for (const WorkerSpeed& speed : workers) computed += most_oars(seconds, oars, speed);
    return computed >= oars;
  };
  return *std::ranges::partition_point(ends, [&](double seconds) { return !is_enough(seconds); });
}

// The cost of an assignment, compared in this order; less is better.
struct Quality {
  double partials = 0;
  double spread = 0;  // sum of squared times, to balance the workers that do not determine the makespan
  friend auto operator<=>(const Quality&, const Quality&) = default;  // NOLINT(modernize-use-nullptr)
};

// The best contiguous shares of which none takes longer than `seconds` or has more than `most_partials`; empty if there
// are none. Dynamic programming: best[w][o] is the best way to give the first o oars to the first w workers.
std::vector<base::Range> best_shares(int oars, const std::vector<WorkerSpeed>& workers, double seconds,
                                     int most_partials, const std::vector<std::vector<int>>& partials) {
  const std::size_t count = workers.size();
  std::vector<std::vector<Quality>> best(count + 1, std::vector<Quality>(at(oars) + 1, {kNever, kNever}));
  std::vector<std::vector<int>> begin(count + 1, std::vector<int>(at(oars) + 1, 0));
  best[0][0] = {};
  for (std::size_t w = 0; w < count; ++w) {
    const int most = most_oars(seconds, oars, workers[w]);
    for (int end = 0; end <= oars; ++end)
      for (int first = std::max(0, end - most); first <= end; ++first) {
        const int sums = partials[at(first)][at(end)];
        if (sums > most_partials) continue;
        const Quality& before = best[w][at(first)];
        const double own = seconds_of(end - first, workers[w]);
        const Quality now{before.partials + sums, before.spread + own * own};
        if (now < best[w + 1][at(end)]) {
          best[w + 1][at(end)] = now;
          begin[w + 1][at(end)] = first;
        }
      }
  }
  if (best[count][at(oars)].partials == kNever) return {};
  std::vector<base::Range> shares(count);
  for (std::size_t w = count, end = at(oars); w-- > 0;) {
    const int first = begin[w + 1][end];
    shares[w] = {first, static_cast<std::int64_t>(end)};
    end = at(first);
  }
  return shares;
}

}  // namespace

// Finds the least makespan, then the smallest bound on partials per worker that keeps it, then the best shares.
std::vector<base::Range> assign_oars(int oars, const std::vector<WorkerSpeed>& workers) {
  std::vector<std::vector<int>> partials(at(oars) + 1, std::vector<int>(at(oars) + 1));
  for (int first = 0; first <= oars; ++first)
    for (int end = first; end <= oars; ++end) partials[at(first)][at(end)] = partials_of(oars, {first, end});
  const double seconds = least_makespan(oars, workers);
  for (int most = 1; most <= oars; ++most)
    if (auto shares = best_shares(oars, workers, seconds, most, partials); !shares.empty()) return shares;
  base::check(false, "{} oars cannot be given to {} workers", oars, workers.size());
  return {};
}

double makespan(const std::vector<base::Range>& shares, const std::vector<WorkerSpeed>& workers) {
  double last = 0;
  for (std::size_t w = 0; w < shares.size(); ++w) last = std::max(last, seconds_of(shares[w].size(), workers[w]));
  return last;
}

int most_partials(int oars, const std::vector<base::Range>& shares) {
  int most = 0;
  for (const base::Range& share : shares) most = std::max(most, partials_of(oars, share));
  return most;
}

AssignOptions parse_assignment(std::string_view text, int oars, int workers) {
  if (text == "even") return {AssignBy::even, {}};
  if (text == "measured") return {AssignBy::measured, {}};
  AssignOptions options{AssignBy::given, {}};
  for (const std::string& word : base::split(text, ',')) {
    if (word.empty() || word.size() > 6 || !std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; }))
      base::user_error("--assign is '{}'; expected even, measured or the oars of each worker, as in 4,2,2", text);
    options.oars.push_back(static_cast<int>(base::parse_int("--assign", word)));
  }
  const int sum = std::accumulate(options.oars.begin(), options.oars.end(), 0);
  if (static_cast<int>(options.oars.size()) != workers || sum != oars)
    base::user_error("--assign {} gives {} workers {} oars; there are {} workers and {} oars", text,
                     options.oars.size(), sum, workers, oars);
  return options;
}

void check_assignment(std::string_view text, int oars, int workers) { (void)parse_assignment(text, oars, workers); }

OarAssignment::OarAssignment(const AssignOptions& options, int oars, std::vector<int> threads, int ahead,
                             std::int64_t first_step)
    : options_(options), oars_(oars), threads_(std::move(threads)), ahead_(ahead), seen_(threads_.size()) {
  std::vector<base::Range>& first = from_[first_step];
  if (options.by == AssignBy::given) {
    std::int64_t next = 0;
    for (const int count : options.oars) {
      first.push_back({next, next + count});
      next += count;
    }
    return;
  }
  std::vector<WorkerSpeed> speeds;
  for (const int count : threads_) speeds.push_back({count, 1});
  first = assign_oars(oars, speeds);
}

std::vector<base::Range> OarAssignment::shares(std::int64_t step) const {
  const std::lock_guard lock(mutex_);
  auto found = from_.upper_bound(step);
  base::check(found != from_.begin(), "step {} is before the first that is assigned", step);
  return std::prev(found)->second;
}

void OarAssignment::hold(std::int64_t step) {
  std::vector<base::Range> fixed;
  const auto workers = static_cast<int>(threads_.size());
  for (int w = 0; w < workers; ++w) fixed.push_back(base::oars_of_worker(w, workers, oars_));
  const std::lock_guard lock(mutex_);
  if (options_.by == AssignBy::given) return;
  from_.erase(from_.lower_bound(step), from_.end());
  from_[step] = std::move(fixed);
  for (auto& seen : seen_) seen.clear();
}

bool OarAssignment::see(std::int64_t step, const std::vector<double>& seconds) {
  if (options_.by != AssignBy::measured) return false;
  const std::vector<base::Range> now = shares(step);
  {
    const std::lock_guard lock(mutex_);
    if (from_.rbegin()->first > step) return false;  // a change is decided but not in effect yet
  }
  for (std::size_t w = 0; w < seconds.size(); ++w) {
    const std::int64_t rounds = (now[w].size() + threads_[w] - 1) / threads_[w];
    if (rounds > 0) seen_[w].push_back(seconds[w] / static_cast<double>(rounds));
  }
  std::vector<WorkerSpeed> speeds;
  for (std::size_t w = 0; w < seen_.size(); ++w) {
    std::vector<double>& seen = seen_[w];
    if (seen.size() > kSeen) seen.erase(seen.begin(), seen.end() - kSeen);
    if (seen.size() < kSeen) return false;  // a worker without oars has no measurements, so it never gets any
    std::vector<double> sorted = seen;
    std::ranges::nth_element(sorted, sorted.begin() + kSeen / 2);
    speeds.push_back({threads_[w], sorted[kSeen / 2]});
  }
  if (makespan(now, speeds) < kWorth * least_makespan(oars_, speeds)) return false;
  std::vector<base::Range> better = assign_oars(oars_, speeds);
  const std::lock_guard lock(mutex_);
  from_[step + ahead_ + 1] = std::move(better);
  for (auto& seen : seen_) seen.clear();
  return true;
}

}  // namespace trireme::strategy
