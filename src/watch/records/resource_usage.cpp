#include "watch/records/resource_usage.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace trireme::watch {
namespace {

using ResourceJson = nlohmann::json;

constexpr double kNotRecorded = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMissing = 3;  // seconds for which a writer's last value stands in for a missing one

double value_in(const ResourceJson& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_number() ? found->get<double>() : kNotRecorded;
}

// Values of many writers, second by second; a total needs all writers that have begun and not ended.
class WriterTotals {
 public:
  void add(const std::string& writer, std::int64_t second, double value) {
    if (std::isfinite(value)) writers_[writer][second] = value;
  }
  ResourceUsage::Series totals(std::int64_t first) const {
    std::map<std::int64_t, double> sums;
    for (const auto& [name, values] : writers_) {
      const auto end = values.rbegin()->first;
      double last = 0;
      std::int64_t seen = 0;
      for (std::int64_t second = values.begin()->first; second <= end;) {
        if (const auto here = values.find(second); here != values.end()) last = here->second, seen = second;
        if (second - seen > kMissing) {  // a pause, perhaps until a resume
          second = values.upper_bound(second)->first;
          continue;
        }
        sums[second++] += last;
      }
    }
    ResourceUsage::Series series;
    for (const auto& [second, sum] : sums) series.emplace_back(static_cast<double>(second - first), sum);
    return series;
  }

 private:
  std::map<std::string, std::map<std::int64_t, double>> writers_;
};

// Second by second.
ResourceUsage::Series larger_of(ResourceUsage::Series a, const ResourceUsage::Series& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) a[i].second = std::max(a[i].second, b[i].second);
  return a;
}

}  // namespace

ResourceUsage read_resources(const base::fs::path& run) {
  WriterTotals run_cores, run_memory, host_cores, host_memory;
  WriterTotals received, sent, received_of_ranks, sent_of_ranks;
  std::map<std::string, double> cores;
  std::map<std::string, double> lowest_rank;  // per host
  std::map<std::string, double> before;       // per writer: its last line's seconds
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::ifstream file(run / "resources.jsonl", std::ios::binary);
  for (std::string text; std::getline(file, text);) {
    const ResourceJson line = ResourceJson::parse(text, nullptr, false);
    if (!line.is_object() || !line.contains("host") || !line["host"].is_string()) continue;
    const std::string host = line["host"].get<std::string>();
    const double rank = value_in(line, "rank"), seconds = value_in(line, "seconds"), time = value_in(line, "time");
    const double moment = std::isfinite(time) ? time : seconds;
    if (!std::isfinite(moment) || std::abs(moment) > 1e12) continue;
    const auto second = static_cast<std::int64_t>(std::floor(moment));
    first = std::min(first, second);
    const bool is_host = std::isnan(rank);
    const std::string writer = host + (is_host ? "" : " " + std::to_string(rank));
    const double passed = before.contains(writer) && seconds > before[writer] ? seconds - before[writer] : seconds;
    before[writer] = seconds;
    const double used = value_in(line, "cpu_user") + value_in(line, "cpu_system");
    const double in_rate = value_in(line, "network_received_bytes") / passed;
    const double out_rate = value_in(line, "network_sent_bytes") / passed;
    if (is_host) {
      host_cores.add(writer, second, used);
      host_memory.add(writer, second, value_in(line, "memory_used_bytes"));
      received.add(writer, second, in_rate);
      sent.add(writer, second, out_rate);
      if (const double count = value_in(line, "cores"); count > 0) cores[host] = count;
      continue;
    }
    run_cores.add(writer, second, used);
    run_memory.add(writer, second, value_in(line, "resident_bytes"));
    const auto [lowest, is_new] = lowest_rank.emplace(host, rank);
    if (!is_new) lowest->second = std::min(lowest->second, rank);
    if (rank > lowest->second) continue;
    received_of_ranks.add(host, second, in_rate);
    sent_of_ranks.add(host, second, out_rate);
  }
  ResourceUsage usage;
  for (const auto& [host, count] : cores) usage.cores += count;
  for (const auto& [host, rank] : lowest_rank) usage.hosts.push_back(host);
  usage.run_cores = run_cores.totals(first);
  usage.run_memory = run_memory.totals(first);
  usage.host_memory = host_memory.totals(first);
  usage.cpu_share = host_cores.totals(first);
  for (auto& [second, used] : usage.cpu_share) used = std::min(1.0, used / std::max(1.0, usage.cores));
  usage.network = larger_of(received.totals(first), sent.totals(first));
  if (usage.network.empty()) usage.network = larger_of(received_of_ranks.totals(first), sent_of_ranks.totals(first));
  return usage;
}

double mean_of_series(const ResourceUsage::Series& series) {
  if (series.empty()) return kNotRecorded;
  double sum = 0;
  for (const auto& [second, value] : series) sum += value;
  return sum / static_cast<double>(series.size());
}

double peak_of_series(const ResourceUsage::Series& series) {
  double peak = kNotRecorded;
  for (const auto& [second, value] : series) peak = std::isnan(peak) ? value : std::max(peak, value);
  return peak;
}

}  // namespace trireme::watch
