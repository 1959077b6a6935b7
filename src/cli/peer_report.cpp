#include "cli/peer_report.h"

#include <fmt/core.h>

namespace trireme::cli {

void expect_available(const nlohmann::json& answer, const PeerWay& way) {
  if (const auto reason = answer.find("not_available"); reason != answer.end())
    throw NotAvailable{reason->get<std::string>()};
  if (!way.allocator.name.empty() && answer.value("allocator", "") != way.allocator.name)
    throw NotAvailable{fmt::format("{} was not loaded", way.allocator.file)};
}

nlohmann::ordered_json ways_json(const std::vector<TriedWay>& tried) {
  auto all = nlohmann::ordered_json::array();
  for (const TriedWay& one : tried) {
    all.push_back({{"way", one.text}, {"dtype", one.dtype}});
    if (one.not_available.empty())
      all.back()["ms"] = 1e3 * one.seconds;
    else
      all.back()["not_available"] = one.not_available;
  }
  return all;
}

void print_unavailable(const std::vector<TriedWay>& tried, int indent) {
  for (const TriedWay& one : tried)
    if (!one.not_available.empty())
      fmt::print("{:<{}} {}: not available: {}\n", "", indent, one.text, one.not_available);
}

}  // namespace trireme::cli
