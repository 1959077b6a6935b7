#include "observe/resources.h"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <fstream>
#include <optional>
#include <utility>

#include "base/cpu/cores.h"
#include "base/cpu/thread_name.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "observe/resource_lines.h"

namespace trireme::observe {
namespace {

constexpr double kFirstSeconds = 0.25;  // until the first samples
constexpr int kSensorsEvery = 5;        // lines of a host

double status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return 1024 * std::stod(line.substr(field.size()));
  return 0;
}

// As in 0-3,8.
std::string ranges_of(std::vector<int> cpus) {
  std::ranges::sort(cpus);
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += end == i + 1 ? std::to_string(cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[end - 1]);
    i = end;
  }
  return text;
}

// The cores on which the calling thread may run. Empty if the system has more of them than the call can name.
std::vector<int> own_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace

double resident_bytes() { return status_bytes("VmRSS:"); }

// getrusage()'s ru_maxrss would include the process image before exec().
double peak_resident_bytes() { return status_bytes("VmHWM:"); }

void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

int core_limit(const base::CorePlan& cores) {
  return cores.usable < static_cast<int>(cores.cpus.size()) ? cores.usable : 0;
}

ResourceWatch::ResourceWatch(ResourceReceiver receiver, double period_seconds, std::vector<int> cpus, Watched watched)
    : receiver_(std::move(receiver)),
      cpus_(std::move(cpus)),
      watched_(std::move(watched)),
      thread_([this, period_seconds] { watch(period_seconds); }) {}

ResourceWatch::~ResourceWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

bool ResourceWatch::wait(double seconds) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return stop_; });
}

void ResourceWatch::watch(double period_seconds) try {
  base::name_this_thread("resources");
  if (!cpus_.empty()) base::unpin_this_thread(cpus_);
  base::work_in_background();
  const std::string cpus = ranges_of(cpus_.empty() ? own_cpus() : cpus_);
  ProcessSampler process;
  NetworkCounters network;
  std::optional<HostSampler> host;
  if (watched_.with_host) host.emplace();
  ProcessSample before = process.sample();
  NetworkBytes network_before = network.read();
  HostSample host_before = host ? host->sample(false) : HostSample{};
  const std::int64_t origin = base::now_ns();
  std::int64_t before_ns = origin;
  bool goes_on = true;
  for (int round = 0; goes_on; ++round) {
    goes_on = wait(round == 0 ? std::min(kFirstSeconds, period_seconds) : period_seconds);
    const std::int64_t now_ns = base::now_ns();
    const LineHead head{watched_.host, watched_.rank, base::unix_seconds(), 1e-9 * static_cast<double>(now_ns - origin),
                        1e-9 * static_cast<double>(now_ns - before_ns)};
    if (head.period_seconds <= 0) continue;
    const ProcessSample now = process.sample();
    const NetworkBytes network_now = network.read();
    receiver_(process_line(head, {cpus, watched_.core_limit}, before, now, network_before, network_now));
    before = now;
    network_before = network_now;
    before_ns = now_ns;
    if (!host) continue;
    HostSample host_now = host->sample(round % kSensorsEvery == 0);
    receiver_(host_line(head, host_before, host_now));
    host_before = std::move(host_now);
  }
} catch (const std::exception& error) {
  base::log_warn("resources are no longer recorded: {}", error.what());
}

}  // namespace trireme::observe
