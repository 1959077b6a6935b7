#include "cluster/host_placement.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/text/text.h"

namespace trireme::cluster {
namespace {

constexpr std::int64_t kMostWeight = 1'000'000;

struct Entry {
  std::string name;
  std::int64_t weight = 1;
  std::int64_t workers = 1;  // every named host gets at least one

  // True when this host should get the next worker rather than `other`: with it, it has more weight per worker.
  bool is_emptier_than(const Entry& other) const { return weight * (other.workers + 1) > other.weight * (workers + 1); }
};

// Accepts "name", "name:weight" and "[fe80::1]:weight". An address with several colons and no brackets has no weight.
Entry parse(const std::string& text) {
  Entry entry{text};
  const std::size_t colon = text.rfind(':');
  const bool has_weight = colon != std::string::npos && (text.find(':') == colon || text[0] == '[') &&
                          text.find(']', colon) == std::string::npos;
  if (has_weight) {
    entry.name = text.substr(0, colon);
    entry.weight = base::parse_int("the weight of the host '" + entry.name + "'", text.substr(colon + 1));
    if (entry.weight < 1 || entry.weight > kMostWeight)
      base::user_error("the host '{}' has the weight {}; expected 1 or more", entry.name, entry.weight);
  }
  if (entry.name.starts_with('[') && entry.name.ends_with(']'))
    entry.name = entry.name.substr(1, entry.name.size() - 2);
  if (entry.name.empty())
    base::user_error("a host without a name{}; expected names, for example --hosts a,b",
                     text.empty() ? "" : " in '" + text + "'");
  // ssh would read such a name as an option, or the remote shell as a command.
  if (entry.name.starts_with('-') || entry.name.find_first_of(" \t\r\n'\"\\;&|<>$`()") != std::string::npos)
    base::user_error("'{}' is no name of a host", entry.name);
  return entry;
}

}  // namespace

std::vector<std::string> place(int workers, const std::vector<std::string>& hosts) {
  if (workers < 1) base::user_error("{} workers; there must be at least 1", workers);
  if (hosts.empty()) return std::vector<std::string>(static_cast<std::size_t>(workers));
  std::vector<Entry> entries;
  for (const std::string& host : hosts) entries.push_back(parse(host));
  if (entries.size() > static_cast<std::size_t>(workers))
    base::user_error("{} hosts for {} workers; leave out some hosts, or take --workers {}", entries.size(), workers,
                     entries.size());
  for (int left = workers - static_cast<int>(entries.size()); left > 0; --left) {
    Entry* next = &entries.front();
    for (Entry& entry : entries)
      if (entry.is_emptier_than(*next)) next = &entry;
    ++next->workers;
  }
  std::vector<std::string> placed;
  for (const Entry& entry : entries) placed.insert(placed.end(), static_cast<std::size_t>(entry.workers), entry.name);
  return placed;
}

}  // namespace trireme::cluster
