#include "observe/host_resources.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace trireme::observe {
namespace {

namespace fs = base::fs;

constexpr double kSector = 512;  // the unit of /proc/diskstats, whatever the disk's own is

CoreSeconds read_core_seconds(FieldScanner& line) {
  static const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal; user contains the guests' time
  for (double& each : ticks) {
    const double value = line.number();
    each = std::isnan(value) ? 0 : tick * value;
  }
  return {ticks[0] + ticks[1], ticks[2] + ticks[5] + ticks[6], ticks[4], ticks[7], ticks[3]};
}

std::string first_word(const fs::path& path) { return std::string(FieldScanner(KernelFile(path).read()).word()); }

bool is_processor_sensor(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames{"coretemp",    "k10temp",      "zenpower",    "cpu_thermal",
                                                   "cpu-thermal", "x86_pkg_temp", "soc_thermal", "soc-thermal"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The column `name` of the protocol's two lines, of which the first has the names.
double snmp_value(std::string_view text, std::string_view protocol, std::string_view name) {
  std::string_view names;
  for (FieldScanner lines(text); !lines.is_at_end();) {
    const std::string_view line = lines.line();
    if (!line.starts_with(protocol)) continue;
    if (names.empty()) {
      names = line;
      continue;
    }
    FieldScanner heads(names), values(line);
    while (!heads.is_at_end()) {
      const std::string_view head = heads.word();
      const std::string_view value = values.word();
      if (head == name) return FieldScanner(value).number();
    }
  }
  return kNotTold;
}

}  // namespace

HostSampler::HostSampler(fs::path root)
    : root_(std::move(root)),
      stat_(root_ / "proc/stat"),
      load_(root_ / "proc/loadavg"),
      memory_(root_ / "proc/meminfo"),
      snmp_(root_ / "proc/net/snmp"),
      disks_(root_ / "proc/diskstats"),
      cpuinfo_(root_ / "proc/cpuinfo"),
      network_(root_) {
  find_thermometers();
}

void HostSampler::find_thermometers() {
  std::error_code ignored;
  for (const auto& chip : fs::directory_iterator(root_ / "sys/class/hwmon", ignored)) {
    if (!is_processor_sensor(first_word(chip.path() / "name"))) continue;
    for (const auto& file : fs::directory_iterator(chip.path(), ignored))
      if (const std::string name = file.path().filename(); name.starts_with("temp") && name.ends_with("_input"))
        thermometers_.emplace_back(file.path());
  }
  if (!thermometers_.empty()) return;
  for (const auto& zone : fs::directory_iterator(root_ / "sys/class/thermal", ignored))
    if (is_processor_sensor(first_word(zone.path() / "type"))) thermometers_.emplace_back(zone.path() / "temp");
}

HostSample HostSampler::sample(bool with_sensors) {
  HostSample sample;
  read_cores(sample);
  sample.load = FieldScanner(load_.read()).number();
  read_memory(sample);
  sample.network = network_.read();
  sample.tcp_retransmits = snmp_value(snmp_.read(), "Tcp:", "RetransSegs");
  read_disks(sample);
  if (!with_sensors) return sample;
  read_frequencies(sample);
  for (KernelFile& thermometer : thermometers_)  // in thousandths
    sample.temperature_celsius = std::fmax(sample.temperature_celsius, 1e-3 * thermometer.read_number());
  return sample;
}

void HostSampler::read_cores(HostSample& sample) {
  for (FieldScanner text(stat_.read()); !text.is_at_end();) {
    FieldScanner line(text.line());
    const std::string_view name = line.word();
    if (name == "cpu") {
      sample.all = read_core_seconds(line);
    } else if (name.starts_with("cpu")) {
      const double number = FieldScanner(name.substr(3)).number();
      if (!std::isnan(number)) sample.cores.push_back({static_cast<int>(number), read_core_seconds(line)});
    } else if (name == "ctxt") {
      sample.context_switches = line.number();
    } else if (name == "procs_running") {
      sample.running = line.number();
    }
  }
}

void HostSampler::read_memory(HostSample& sample) {
  double available = kNotTold, free = 0, cached = kNotTold, buffers = 0, swap_total = kNotTold, swap_free = kNotTold;
  const std::array<std::pair<std::string_view, double*>, 8> wanted{{{"MemTotal:", &sample.memory_total_bytes},
                                                                    {"MemFree:", &free},
                                                                    {"MemAvailable:", &available},
                                                                    {"Buffers:", &buffers},
                                                                    {"Cached:", &cached},
                                                                    {"SwapTotal:", &swap_total},
                                                                    {"SwapFree:", &swap_free},
                                                                    {"Shmem:", &sample.memory_shared_bytes}}};
  std::size_t left = wanted.size();
  for (FieldScanner text(memory_.read()); !text.is_at_end() && left > 0;) {
    FieldScanner line(text.line());
    const std::string_view name = line.word();
    const auto found = std::ranges::find(wanted, name, &std::pair<std::string_view, double*>::first);
    if (found == wanted.end()) continue;
    *found->second = 1024 * line.number();
    --left;
  }
  if (std::isnan(available)) available = free + buffers + cached;  // kernels before 3.14
  sample.memory_used_bytes = sample.memory_total_bytes - available;
  sample.memory_cache_bytes = cached + buffers;
  sample.swap_used_bytes = swap_total - swap_free;
}

// Partitions, and what lies over disks, would count their bytes twice.
bool HostSampler::is_disk(std::string_view device) {
  const auto found = is_disk_.find(device);
  if (found != is_disk_.end()) return found->second;
  constexpr std::array<std::string_view, 7> kOthers{"loop", "ram", "zram", "dm-", "md", "sr", "fd"};
  std::error_code ignored;
  const bool is_other = std::ranges::any_of(kOthers, [&](std::string_view start) { return device.starts_with(start); });
  return is_disk_.emplace(device, !is_other && fs::exists(root_ / "sys/block" / device, ignored)).first->second;
}

void HostSampler::read_disks(HostSample& sample) {
  for (FieldScanner text(disks_.read()); !text.is_at_end();) {
    FieldScanner line(text.line());
    line.skip(2);
    const std::string_view device = line.word();
    if (device.empty() || !is_disk(device)) continue;
    if (std::isnan(sample.disk_read_bytes)) sample.disk_read_bytes = sample.disk_written_bytes = 0;
    line.skip(2);
    sample.disk_read_bytes += kSector * line.number();
    line.skip(3);
    sample.disk_written_bytes += kSector * line.number();
    line.skip(2);
    sample.disk_busy_seconds.emplace(device, 1e-3 * line.number());
  }
}

void HostSampler::read_frequencies(HostSample& sample) {
  bool knows_any = false;
  for (const HostSample::Core& core : sample.cores) {
    auto found = frequencies_.find(core.number);
    if (found == frequencies_.end())
      found = frequencies_
                  .emplace(core.number,
                           KernelFile(root_ / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq", core.number) /
                                      "scaling_cur_freq"))
                  .first;
    sample.mhz.push_back(1e-3 * found->second.read_number());
    // The file of a core that was taken off line is dead, even when the core is back.
    if (std::isnan(sample.mhz.back())) frequencies_.erase(found);
    knows_any |= !std::isnan(sample.mhz.back());
  }
  if (knows_any) return;
  std::map<int, double> told;
  int number = -1;
  for (FieldScanner text(cpuinfo_.read()); !text.is_at_end();) {
    const std::string_view line = text.line();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const double value = FieldScanner(line.substr(colon + 1)).number();
    if (line.starts_with("processor") && !std::isnan(value)) number = static_cast<int>(value);
    if (line.starts_with("cpu MHz")) told[number] = value;
  }
  if (told.empty()) return sample.mhz.clear();
  for (std::size_t i = 0; i < sample.cores.size(); ++i)
    if (const auto found = told.find(sample.cores[i].number); found != told.end()) sample.mhz[i] = found->second;
}

}  // namespace trireme::observe
