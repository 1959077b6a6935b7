#include "train/helm/link_speeds.h"

#include <algorithm>
#include <set>
#include <utility>

namespace trireme::train {
namespace {

constexpr double kEnoughBytes = 1e6;  // less tells about latencies
constexpr double kMuchSlower = 3;

}  // namespace

void LinkSpeeds::set(int worker, std::vector<observe::TcpLoad> loads) { loads_[worker] = std::move(loads); }

void LinkSpeeds::lose(int worker) {
  std::map<int, std::vector<observe::TcpLoad>> left;
  for (auto& [number, loads] : loads_)
    if (number != worker) left[number > worker ? number - 1 : number] = std::move(loads);
  loads_ = std::move(left);
}

std::optional<LinkSpeeds::Verdict> LinkSpeeds::verdict() const {
  // A pair of hosts is as fast as its slower direction: a link that is slow one way makes both wait.
  std::map<std::pair<std::string, std::string>, observe::TcpLoad> directions;
  std::map<std::string, std::set<int>> workers_at;
  for (const auto& [worker, loads] : loads_)
    for (const observe::TcpLoad& load : loads) {
      workers_at[load.local].insert(worker);
      observe::TcpLoad& sum = directions[{load.local, load.peer}];
      sum.bytes += load.bytes;
      sum.busy_seconds += load.busy_seconds;
    }
  std::map<std::string, double> fastest;  // by host: its fastest pair
  for (const auto& [ends, load] : directions) {
    if (load.bytes < kEnoughBytes || load.busy_seconds <= 0) continue;
    double speed = load.bytes / load.busy_seconds;
    const auto back = directions.find({ends.second, ends.first});
    if (back != directions.end() && back->second.bytes >= kEnoughBytes && back->second.busy_seconds > 0)
      speed = std::min(speed, back->second.bytes / back->second.busy_seconds);
    for (const std::string& host : {ends.first, ends.second}) fastest[host] = std::max(fastest[host], speed);
  }
  if (fastest.empty()) return {};
  const auto slowest = std::ranges::min_element(fastest, {}, [](const auto& one) { return one.second; });
  std::vector<double> others;
  for (const auto& [host, speed] : fastest)
    if (host != slowest->first) others.push_back(speed);
  std::ranges::sort(others);
  Verdict verdict{{}, others.empty() ? slowest->second : others.back(), 0};
  if (others.empty()) return verdict;
  verdict.others = others[others.size() / 2];
  const auto at_slowest = workers_at.find(slowest->first);
  if (fastest.size() < 3 || verdict.others < kMuchSlower * slowest->second || at_slowest == workers_at.end())
    return verdict;
  verdict.workers.assign(at_slowest->second.begin(), at_slowest->second.end());
  verdict.bytes_per_second = slowest->second;
  return verdict;
}

}  // namespace trireme::train
