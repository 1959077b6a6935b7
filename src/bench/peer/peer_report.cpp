#include "bench/peer/peer_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace trireme::bench {

void expect_available(const std::string& answer, const peer::Allocator& allocator) {
  const auto json = nlohmann::json::parse(answer);
  if (const auto reason = json.find("not_available"); reason != json.end())
    throw NotAvailable{reason->get<std::string>()};
  if (!allocator.name.empty() && json.value("allocator", "") != allocator.name)
    throw NotAvailable{fmt::format("{} was not loaded", allocator.file)};
}

std::string ways_json(const std::vector<TriedWay>& tried) {
  auto all = nlohmann::ordered_json::array();
  for (const TriedWay& one : tried) {
    all.push_back({{"way", one.text}, {"dtype", one.dtype}});
    if (one.not_available.empty())
      all.back()["ms"] = 1e3 * one.seconds;
    else
      all.back()["not_available"] = one.not_available;
  }
  return all.dump();
}

void print_unavailable(const std::vector<TriedWay>& tried, int indent) {
  for (const TriedWay& one : tried)
    if (!one.not_available.empty())
      fmt::print("{:<{}} {}: not available: {}\n", "", indent, one.text, one.not_available);
}

}  // namespace trireme::bench
