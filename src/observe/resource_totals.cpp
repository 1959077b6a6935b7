#include "observe/resource_totals.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <string_view>

namespace trireme::observe {
namespace {

constexpr double kForgetSeconds = 5;      // after which the figures of a lost process no longer count
constexpr double kShortestPeriod = 0.25;  // a rate over less, as at the end of a run, would say nothing

// "0-3,8"
void add_cpus(std::string_view list, std::set<int>& to) {
  for (const auto part : std::views::split(list, ',')) {
    const std::string_view text(part.begin(), part.end());
    int first = 0;
    const auto begin = std::from_chars(text.data(), text.data() + text.size(), first);
    if (begin.ec != std::errc()) continue;
    int last = first;
    if (begin.ptr != text.data() + text.size()) std::from_chars(begin.ptr + 1, text.data() + text.size(), last);
    for (int cpu = first; cpu <= last; ++cpu) to.insert(cpu);
  }
}

}  // namespace

void ResourceTotals::add(const ResourceFigures& figures, double now_seconds) {
  const std::lock_guard lock(mutex_);
  Host& host = hosts_[figures.host];
  if (figures.rank == ResourceFigures::kHost) {
    host.cores = figures.cores;
    host.used += figures.cpu * figures.period_seconds;
    host.had += figures.cores * figures.period_seconds;
    use_.network_bytes += figures.network_received_bytes;
  } else {
    if (host.known.insert(figures.cpus).second) add_cpus(figures.cpus, host.usable);
    host.limit = std::max(host.limit, figures.core_limit);
    host.used_by_run += figures.cpu * figures.period_seconds;
    host.seconds[figures.rank] += figures.period_seconds;
  }
  newest_[{figures.host, figures.rank}] = {figures, now_seconds};
  add_up_newest(now_seconds);
}

void ResourceTotals::add_up_newest(double now_seconds) {
  double received = 0, sent = 0, memory = 0, own = 0;
  std::map<std::string, double> shared;  // by host: all processes share the largest part
  for (const auto& [key, newest] : newest_) {
    if (now_seconds - newest.seconds >= kForgetSeconds) continue;
    const ResourceFigures& f = newest.figures;
    if (key.second == ResourceFigures::kHost) {
      const double period = std::max(f.period_seconds, kShortestPeriod);
      received += f.network_received_bytes / period;
      sent += f.network_sent_bytes / period;
      memory += f.memory_bytes;
    } else {
      own += f.memory_bytes - f.shared_bytes;
      double& most = shared[f.host];
      most = std::max(most, f.shared_bytes);
    }
  }
  for (const auto& [host, bytes] : shared) own += bytes;
  use_.network_peak_bytes_per_second = std::max({use_.network_peak_bytes_per_second, received, sent});
  use_.memory_peak_bytes = std::max(use_.memory_peak_bytes, memory);
  use_.memory_peak_of_run_bytes = std::max(use_.memory_peak_of_run_bytes, own);
}

std::optional<ClusterUse> ResourceTotals::total() const {
  const std::lock_guard lock(mutex_);
  if (newest_.empty()) return std::nullopt;
  ClusterUse use = use_;
  use.hosts = static_cast<int>(hosts_.size());
  double used = 0, had = 0, used_by_run = 0, had_by_run = 0;
  for (const auto& [name, host] : hosts_) {
    use.cores += host.cores;
    used += host.used;
    had += host.had;
    used_by_run += host.used_by_run;
    double longest = 0;
    for (const auto& [rank, seconds] : host.seconds) longest = std::max(longest, seconds);
    const auto usable = static_cast<double>(host.usable.size());
    had_by_run += longest * (host.limit > 0 ? std::min(usable, host.limit) : usable);
  }
  if (had > 0) use.cpu_share = used / had;
  if (had_by_run > 0) use.cpu_share_of_run = used_by_run / had_by_run;
  return use;
}

}  // namespace trireme::observe
