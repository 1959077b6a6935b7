#include "observe/resource_lines.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "observe/json_text.h"

namespace trireme::observe {
namespace {

// A line of JSON. Values that are not numbers are left out.
class LineText {
 public:
  explicit LineText(const LineHead& head, bool is_host)
      : text_(fmt::format(R"({{"host":{},"rank":{},"time":{:.3f},"seconds":{:.3f})", json_text(head.host),
                          is_host ? "null" : std::to_string(head.rank), head.unix_seconds, head.seconds)) {}

  void cores(const char* name, double value) { add(name, value, "{:.3f}"); }
  void whole(const char* name, double value) { add(name, value, "{:.0f}"); }
  void raw(const char* name, std::string_view json) {
    fmt::format_to(std::back_inserter(text_), R"(,"{}":{})", name, json);
  }
  std::string take() { return std::move(text_) + "}"; }

 private:
  void add(const char* name, double value, const char* format) {
    if (!std::isfinite(value)) return;
    fmt::format_to(std::back_inserter(text_), R"(,"{}":)", name);
    fmt::format_to(std::back_inserter(text_), fmt::runtime(format), value);
  }

  std::string text_;
};

// Counters begin again when a device is replaced, and iowait may even shrink: that counts as nothing.
double grown(double before, double now) { return std::isnan(now - before) ? kNotTold : std::max(0.0, now - before); }

double or_zero(double value) { return std::isfinite(value) ? value : 0; }

template <class Values>
std::string list(const Values& values, const char* format) {
  std::string text = "[";
  for (const double value : values) {
    if (text.size() > 1) text += ',';
    if (std::isfinite(value))
      fmt::format_to(std::back_inserter(text), fmt::runtime(format), value);
    else
      text += "null";
  }
  return text + "]";
}

struct CoreShares {
  std::vector<double> number, user, system, iowait;
};

CoreShares shares(const HostSample& before, const HostSample& now) {
  CoreShares result;
  for (const HostSample::Core& core : now.cores) {
    const auto earlier = std::ranges::find(before.cores, core.number, &HostSample::Core::number);
    const CoreSeconds start = earlier == before.cores.end() ? core.seconds : earlier->seconds;  // it came on line
    const double passed = core.seconds.total() - start.total();
    const auto share = [&](double CoreSeconds::*part) {
      return passed > 0 ? std::min(1.0, grown(start.*part, core.seconds.*part) / passed) : 0.0;
    };
    result.number.push_back(core.number);
    result.user.push_back(share(&CoreSeconds::user));
    result.system.push_back(share(&CoreSeconds::system));
    result.iowait.push_back(share(&CoreSeconds::iowait));
  }
  return result;
}

std::string core_object(const HostSample& before, const HostSample& now) {
  const CoreShares core = shares(before, now);
  std::string text = fmt::format(R"({{"number":{},"user":{},"system":{},"iowait":{})", list(core.number, "{:.0f}"),
                                 list(core.user, "{:.2g}"), list(core.system, "{:.2g}"), list(core.iowait, "{:.2g}"));
  if (!now.mhz.empty()) text += R"(,"mhz":)" + list(now.mhz, "{:.0f}");
  return text + "}";
}

double busiest_disk(const HostSample& before, const HostSample& now, double period) {
  double busiest = kNotTold;
  for (const auto& [disk, seconds] : now.disk_busy_seconds)
    if (const auto earlier = before.disk_busy_seconds.find(disk); earlier != before.disk_busy_seconds.end())
      busiest = std::fmax(busiest, std::min(1.0, grown(earlier->second, seconds) / period));
  return busiest;
}

}  // namespace

ResourcesUsed process_line(const LineHead& head, const UsableCores& usable, const ProcessSample& before,
                           const ProcessSample& now, const NetworkBytes& network_before, const NetworkBytes& network) {
  const double period = head.period_seconds;
  const auto counted = [&](double ProcessSample::*what) { return grown(before.*what, now.*what); };
  const double user = counted(&ProcessSample::cpu_user_seconds) / period;
  const double system = counted(&ProcessSample::cpu_system_seconds) / period;
  const double received = grown(network_before.received, network.received),
               sent = grown(network_before.sent, network.sent);
  LineText line(head, false);
  line.cores("cpu_user", user);
  line.cores("cpu_system", system);
  line.raw("cpus", json_text(usable.cpus));
  if (usable.limit > 0) line.whole("core_limit", usable.limit);
  line.whole("resident_bytes", now.resident_bytes);
  line.whole("shared_bytes", now.shared_bytes);
  line.whole("threads", now.threads);
  line.whole("voluntary_switches", counted(&ProcessSample::voluntary_switches));
  line.whole("involuntary_switches", counted(&ProcessSample::involuntary_switches));
  line.whole("minor_faults", counted(&ProcessSample::minor_faults));
  line.whole("major_faults", counted(&ProcessSample::major_faults));
  line.whole("disk_read_bytes", counted(&ProcessSample::disk_read_bytes));
  line.whole("disk_written_bytes", counted(&ProcessSample::disk_written_bytes));
  line.whole("network_received_bytes", received);
  line.whole("network_sent_bytes", sent);
  return {line.take(), ResourceFigures{.host = head.host,
                                       .rank = head.rank,
                                       .period_seconds = period,
                                       .cpu = user + system,
                                       .cpus = usable.cpus,
                                       .core_limit = static_cast<double>(usable.limit),
                                       .memory_bytes = or_zero(now.resident_bytes),
                                       .shared_bytes = or_zero(now.shared_bytes),
                                       .network_received_bytes = or_zero(received),
                                       .network_sent_bytes = or_zero(sent)}};
}

ResourcesUsed host_line(const LineHead& head, const HostSample& before, const HostSample& now) {
  const double period = head.period_seconds;
  const auto counted = [&](double HostSample::*what) { return grown(before.*what, now.*what); };
  const auto cpu = [&](double CoreSeconds::*what) {
    return now.cores.empty() ? kNotTold : grown(before.all.*what, now.all.*what) / period;
  };
  const double received = grown(before.network.received, now.network.received),
               sent = grown(before.network.sent, now.network.sent);
  LineText line(head, true);
  line.whole("cores", now.cores.empty() ? kNotTold : static_cast<double>(now.cores.size()));
  line.cores("cpu_user", cpu(&CoreSeconds::user));
  line.cores("cpu_system", cpu(&CoreSeconds::system));
  line.cores("cpu_iowait", cpu(&CoreSeconds::iowait));
  line.cores("cpu_steal", cpu(&CoreSeconds::steal));
  if (!now.cores.empty() && now.cores.size() <= kMostCoresShown) line.raw("core", core_object(before, now));
  line.whole("running", now.running);
  line.cores("load", now.load);
  line.whole("context_switches", counted(&HostSample::context_switches));
  line.whole("memory_total_bytes", now.memory_total_bytes);
  line.whole("memory_used_bytes", now.memory_used_bytes);
  line.whole("memory_cache_bytes", now.memory_cache_bytes);
  line.whole("memory_shared_bytes", now.memory_shared_bytes);
  line.whole("swap_used_bytes", now.swap_used_bytes);
  line.whole("network_received_bytes", received);
  line.whole("network_sent_bytes", sent);
  line.whole("tcp_retransmits", counted(&HostSample::tcp_retransmits));
  line.whole("disk_read_bytes", counted(&HostSample::disk_read_bytes));
  line.whole("disk_written_bytes", counted(&HostSample::disk_written_bytes));
  line.cores("disk_busy", busiest_disk(before, now, period));
  line.cores("temperature_celsius", now.temperature_celsius);
  return {line.take(), ResourceFigures{.host = head.host,
                                       .period_seconds = period,
                                       .cpu = or_zero(cpu(&CoreSeconds::user) + cpu(&CoreSeconds::system)),
                                       .cores = static_cast<double>(now.cores.size()),
                                       .memory_bytes = or_zero(now.memory_used_bytes),
                                       .shared_bytes = or_zero(now.memory_shared_bytes),
                                       .network_received_bytes = or_zero(received),
                                       .network_sent_bytes = or_zero(sent)}};
}

}  // namespace trireme::observe
