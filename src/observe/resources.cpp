#include "observe/resources.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <exception>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/cpu/cores.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "observe/json_text.h"

namespace trireme::observe {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return 1024 * std::stod(line.substr(field.size()));
  return 0;
}

}  // namespace

ResourceSample sample_resources() {
  ResourceSample sample;
  sample.seconds = 1e-9 * static_cast<double>(base::now_ns());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  sample.cpu_user_seconds = seconds(usage.ru_utime);
  sample.cpu_system_seconds = seconds(usage.ru_stime);
  double pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  sample.resident_bytes = resident * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ifstream devices("/proc/net/dev");
  for (std::string line; std::getline(devices, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, colon).ends_with(" lo") || line.starts_with("lo")) continue;
    std::istringstream fields(line.substr(colon + 1));
    double value[9] = {};
    for (double& field : value) fields >> field;
    sample.network_received_bytes += value[0];
    sample.network_sent_bytes += value[8];
  }
  return sample;
}

double resident_bytes() { return status_bytes("VmRSS:"); }

// getrusage()'s ru_maxrss would include the process image before exec().
double peak_resident_bytes() { return status_bytes("VmHWM:"); }

void reset_peak_resident() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

LineSink append_to(const base::fs::path& path) {
  return [writer = std::make_shared<base::LineWriter>(path)](std::string_view line) { writer->write(line); };
}

ResourceWatch::ResourceWatch(LineSink sink, double period_seconds, std::vector<int> cpus, Watched watched)
    : sink_(std::move(sink)),
      cpus_(std::move(cpus)),
      whose_(fmt::format(R"("host":{},"rank":{})", json_text(watched.host), watched.rank)),
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

void ResourceWatch::watch(double period_seconds) {
  if (!cpus_.empty()) base::unpin_this_thread(cpus_);
  ResourceSample before = sample_resources();
  const double origin = before.seconds;
  for (bool goes_on = true; goes_on;) {
    goes_on = wait(period_seconds);
    const ResourceSample now = sample_resources();
    const double passed = now.seconds - before.seconds;
    if (passed <= 0) continue;
    try {
      sink_(fmt::format(
          R"({{{},"seconds":{:.3f},"cpu_user":{:.3f},"cpu_system":{:.3f},"resident_bytes":{:.0f},"network_received_bytes":{:.0f},"network_sent_bytes":{:.0f}}})",
          whose_, now.seconds - origin, (now.cpu_user_seconds - before.cpu_user_seconds) / passed,
          (now.cpu_system_seconds - before.cpu_system_seconds) / passed, now.resident_bytes,
          now.network_received_bytes - before.network_received_bytes,
          now.network_sent_bytes - before.network_sent_bytes));
    } catch (const std::exception& error) {
      base::log_warn("resources are no longer recorded: {}", error.what());
      return;
    }
    before = now;
  }
}

}  // namespace trireme::observe
