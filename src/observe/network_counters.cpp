#include "observe/network_counters.h"

#include <utility>

namespace trireme::observe {

NetworkCounters::NetworkCounters(base::fs::path root) : root_(std::move(root)), devices_(root_ / "proc/net/dev") {}

// A member of a bond or of a bridge passes on what its master counts as well.
bool NetworkCounters::counts(std::string_view interface) {
  const auto found = counts_.find(interface);
  if (found != counts_.end()) return found->second;
  std::error_code ignored;
  const bool is_member =
      base::fs::is_symlink(base::fs::symlink_status(root_ / "sys/class/net" / interface / "master", ignored));
  return counts_.emplace(interface, interface != "lo" && !interface.starts_with("ifb") && !is_member).first->second;
}

NetworkBytes NetworkCounters::read() {
  FieldScanner text(devices_.read());
  if (text.is_at_end()) return {};
  NetworkBytes bytes{0, 0};
  while (!text.is_at_end()) {
    const std::string_view line = text.line();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;  // a head of the table
    if (!counts(FieldScanner(line.substr(0, colon)).word())) continue;
    FieldScanner fields(line.substr(colon + 1));
    bytes.received += fields.number();
    fields.skip(7);
    bytes.sent += fields.number();
  }
  return bytes;
}

}  // namespace trireme::observe
