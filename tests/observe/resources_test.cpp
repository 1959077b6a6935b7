// Samples of processes and hosts, the lines made of them, and the totals of a cluster. The hosts are folders with the
// files of a /proc and a /sys.
#include "observe/resources.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/system/clock.h"
#include "base/system/log.h"
#include "observe/resource_lines.h"
#include "observe/resource_totals.h"
#include "support/temporary_folder.h"

namespace trireme::observe {
namespace {

using Json = nlohmann::json;
using test::TemporaryFolder;

class FakeHost {
 public:
  void write(const std::string& name, const std::string& text) {
    const base::fs::path path = folder_.path() / name;
    base::fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // Ticks of each core: user, nice, system, idle, iowait, irq, softirq, steal.
  void write_stat(const std::vector<std::pair<int, std::array<int, 8>>>& cores) {
    std::array<int, 8> all{};
    std::string lines;
    for (const auto& [number, ticks] : cores) {
      lines += "cpu" + std::to_string(number);
      for (std::size_t i = 0; i < 8; ++i) lines += " " + std::to_string(ticks[i]), all[i] += ticks[i];
      lines += " 0 0\n";
    }
    std::string text = "cpu ";
    for (const int ticks : all) text += " " + std::to_string(ticks);
    write("proc/stat", text + " 0 0\n" + lines + "intr 5 0 0\nctxt 1000\nbtime 1\nprocs_running 3\nprocs_blocked 0\n");
  }
  base::fs::path path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

LineHead head_of(double period) { return {.host = "n", .unix_seconds = 7, .seconds = 2, .period_seconds = period}; }

TEST(ProcessResources, GrowWithUse) {
  std::thread([] {}).join();  // with the first thread, ThreadSanitizer starts one of its own
  ProcessSampler sampler;
  const ProcessSample before = sampler.sample();
  EXPECT_GT(before.resident_bytes, 0);
  EXPECT_GE(peak_resident_bytes(), 0.5 * before.resident_bytes);
  volatile double work = 1;
  const std::int64_t start = base::now_ns();
  while (base::seconds_since(start) < 0.2) work = work * 1.0000001;
  std::vector<char> memory(64u << 20);
  for (std::size_t i = 0; i < memory.size(); i += 512) memory[i] = static_cast<char>(i);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const ProcessSample after = sampler.sample();
  const double cpu =
      after.cpu_user_seconds + after.cpu_system_seconds - before.cpu_user_seconds - before.cpu_system_seconds;
  EXPECT_GT(cpu, 0.02);  // a busy machine may give a tenth of a core
  EXPECT_LT(cpu, base::seconds_since(start) + 0.1);
  EXPECT_GT(after.resident_bytes - before.resident_bytes, 50e6);
  EXPECT_GT(after.minor_faults + after.major_faults, before.minor_faults + before.major_faults);
  EXPECT_GT(after.voluntary_switches, before.voluntary_switches) << "it has slept";
  EXPECT_LT(after.shared_bytes, after.resident_bytes);
  std::thread([&] { EXPECT_EQ(sampler.sample().threads, after.threads + 1); }).join();
}

TEST(HostResources, OfThisHostAreThoseOfTheKernel) {
  const HostSample sample = HostSampler().sample(true);
  ASSERT_FALSE(sample.cores.empty());
  EXPECT_GT(sample.all.total(), 0);
  EXPECT_GE(sample.running, 1) << "this test runs";
  EXPECT_GT(sample.memory_used_bytes, 0);
  EXPECT_LT(sample.memory_used_bytes, sample.memory_total_bytes);
}

TEST(HostResources, AreReadFromItsFiles) {
  FakeHost host;
  host.write_stat({{0, {100, 10, 50, 800, 20, 10, 5, 5}}, {2, {0, 0, 0, 1000, 0, 0, 0, 0}}});
  host.write("proc/loadavg", "1.50 1.00 0.50 3/200 12345\n");
  host.write("proc/meminfo",
             "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\nBuffers: 50 kB\nCached: 300 kB\n"
             "SwapTotal: 200 kB\nSwapFree: 150 kB\nShmem: 25 kB\n");
  host.write("proc/net/dev",
             "Inter-| Receive | Transmit\n face |bytes packets\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
             "  eth0:1000 5 0 0 0 0 0 0 2000 6 0 0 0 0 0 0\n  eth1: 400 5 0 0 0 0 0 0 800 6 0 0 0 0 0 0\n"
             " bond0: 30 5 0 0 0 0 0 0 60 6 0 0 0 0 0 0\n");
  host.write("sys/class/net/bond0/address", "");
  base::fs::create_directories(host.path() / "sys/class/net/eth1");
  base::fs::create_directory_symlink("../bond0", host.path() / "sys/class/net/eth1/master");
  host.write("proc/net/snmp", "Ip: A B\nIp: 1 2\nTcp: InSegs RetransSegs OutRsts\nTcp: 5 42 7\n");
  host.write("proc/diskstats",
             "   8 0 sda 1 0 100 5 1 0 200 5 0 300 10\n   8 1 sda1 1 0 100 5 1 0 200 5 0 300 10\n"
             "   8 16 sdb 1 0 10 5 1 0 20 5 0 900 10\n 253 0 dm-0 1 0 100 5 1 0 200 5 0 300 10\n");
  for (const char* disk : {"sda", "sdb", "dm-0"}) base::fs::create_directories(host.path() / "sys/block" / disk);
  host.write("sys/class/hwmon/hwmon0/name", "coretemp\n");
  host.write("sys/class/hwmon/hwmon0/temp1_input", "51000\n");
  host.write("sys/class/hwmon/hwmon0/temp2_input", "63500\n");
  host.write("sys/class/hwmon/hwmon1/name", "nvme\n");
  host.write("sys/class/hwmon/hwmon1/temp1_input", "90000\n");
  host.write("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "2200000\n");
  HostSampler sampler(host.path());
  const HostSample before = sampler.sample(false);
  EXPECT_EQ(before.cores.size(), 2u);
  EXPECT_EQ(before.network.received, 1030) << "without loopback and without the member of the bond";
  EXPECT_EQ(before.network.sent, 2060);
  EXPECT_EQ(before.tcp_retransmits, 42);
  EXPECT_EQ(before.disk_read_bytes, 110 * 512) << "of whole disks";
  EXPECT_EQ(before.disk_written_bytes, 220 * 512);
  EXPECT_TRUE(std::isnan(before.temperature_celsius)) << "not looked at";

  // Within two seconds: core 0 is half user, a quarter each of system and iowait; core 2 does nothing.
  const int tick = static_cast<int>(sysconf(_SC_CLK_TCK));
  host.write_stat({{0, {100 + tick, 10, 50 + tick / 2, 800, 20 + tick / 2, 10, 5, 5}},
                   {2, {0, 0, 0, 1000 + 2 * tick, 0, 0, 0, 0}}});
  host.write("proc/diskstats", "   8 0 sda 1 0 100 5 1 0 200 5 0 1300 10\n   8 16 sdb 1 0 12 5 1 0 20 5 0 1000 10\n");
  const HostSample now = sampler.sample(true);
  const ResourcesUsed used = host_line(head_of(2), before, now);
  EXPECT_EQ(Json::parse(used.line), Json::parse(R"({"host":"n","rank":null,"time":7.0,"seconds":2.0,"cores":2,
    "cpu_user":0.5,"cpu_system":0.25,"cpu_iowait":0.25,"cpu_steal":0.0,
    "core":{"number":[0,2],"user":[0.5,0],"system":[0.25,0],"iowait":[0.25,0],"mhz":[null,2200]},
    "running":3,"load":1.5,"context_switches":0,
    "memory_total_bytes":1024000,"memory_used_bytes":614400,"memory_cache_bytes":358400,"memory_shared_bytes":25600,
    "swap_used_bytes":51200,"network_received_bytes":0,"network_sent_bytes":0,"tcp_retransmits":0,
    "disk_read_bytes":1024,"disk_written_bytes":0,"disk_busy":0.5,"temperature_celsius":63.5})"));
  EXPECT_EQ(used.figures.rank, ResourceFigures::kHost);
  EXPECT_EQ(used.figures.cpu, 0.75);
  EXPECT_EQ(used.figures.memory_bytes, 614400);
}

TEST(HostResources, WhatIsNotToldIsLeftOut) {
  const TemporaryFolder empty;
  HostSampler sampler(empty.path());
  const HostSample before = sampler.sample(true);
  const ResourcesUsed used = host_line(head_of(1), before, sampler.sample(true));
  EXPECT_EQ(Json::parse(used.line), Json::parse(R"({"host":"n","rank":null,"time":7.0,"seconds":2.0})"));
  EXPECT_EQ(used.figures.cpu, 0);
  EXPECT_EQ(used.figures.cores, 0);
}

TEST(HostResources, CoresComeAndGo) {
  FakeHost host;
  HostSample two, one, other;
  {
    host.write_stat({{0, {0, 0, 0, 100, 0, 0, 0, 0}}, {1, {500, 0, 0, 100, 0, 0, 0, 0}}});
    HostSampler sampler(host.path());
    two = sampler.sample(true);
    host.write_stat({{0, {50, 0, 0, 150, 0, 0, 0, 0}}});  // core 1 is off line
    one = sampler.sample(true);
    host.write_stat({{0, {50, 0, 0, 250, 0, 0, 0, 0}}, {1, {510, 0, 0, 190, 0, 0, 0, 0}}});
    other = sampler.sample(true);
  }
  const Json gone = Json::parse(host_line(head_of(1), two, one).line);
  EXPECT_EQ(gone.at("cores"), 1);
  EXPECT_EQ(gone.at("cpu_user"), 0) << "the sum shrank";
  EXPECT_EQ(gone.at("core").at("user"), Json::parse("[0.5]"));
  const Json back = Json::parse(host_line(head_of(1), one, other).line);
  EXPECT_EQ(back.at("core").at("number"), Json::parse("[0,1]"));
  EXPECT_EQ(back.at("core").at("user"), Json::parse("[0,0]")) << "unknown since when";
}

TEST(HostResources, LinesOfManyCoresFitIntoAMessage) {
  for (const int cores : {1, 257, 512, 513, 4096}) {
    FakeHost host;
    std::vector<std::pair<int, std::array<int, 8>>> ticks;
    std::string cpuinfo;
    for (int core = 0; core < cores; ++core) {
      ticks.push_back({core, {0, 0, 0, 0, 0, 0, 0, 0}});
      cpuinfo += "processor\t: " + std::to_string(core) + "\nmodel name\t: x\ncpu MHz\t\t: 12345.678\n\n";
    }
    host.write_stat(ticks);
    host.write("proc/cpuinfo", cpuinfo);
    HostSampler sampler(host.path());
    const HostSample before = sampler.sample(true);
    for (auto& each : ticks) each.second = {333, 0, 333, 0, 333, 0, 0, 1};
    host.write_stat(ticks);
    const ResourcesUsed used = host_line(head_of(1), before, sampler.sample(true));
    const Json line = Json::parse(used.line);
    EXPECT_EQ(line.at("cores"), cores);
    EXPECT_LT(used.line.size(), 15u << 10);
    ASSERT_EQ(line.contains("core"), cores <= 512) << cores;
    if (cores <= 512) {
      EXPECT_EQ(line["core"]["mhz"], Json(std::vector<int>(static_cast<std::size_t>(cores), 12346)));
    }
  }
}

TEST(ResourceWatch, WritesLinesOfProcessAndHostAndStopsAtOnce) {
  std::vector<ResourcesUsed> all;  // of the watch's thread until it is gone
  const std::int64_t start = base::now_ns();
  {
    const ResourceWatch watch([&](ResourcesUsed used) { all.push_back(std::move(used)); }, 0.05, {0, 5, 6, 7},
                              {"node \"7\"", 12, true, 3});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  {
    const ResourceWatch slow([](const ResourcesUsed&) {}, 3600);
  }
  EXPECT_LT(base::seconds_since(start), 30);
  ASSERT_GE(all.size(), 2u) << "at least the last ones";
  double before = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Json read = Json::parse(all[i].line);
    EXPECT_GE(read.at("seconds").get<double>(), before);
    before = read.at("seconds").get<double>();
    EXPECT_NEAR(read.at("time").get<double>(), static_cast<double>(time(nullptr)), 60);
    EXPECT_EQ(read.at("host"), "node \"7\"");
    EXPECT_EQ(read.at("rank"), i % 2 == 0 ? Json(12) : Json(nullptr));
    if (i % 2 == 0) {
      EXPECT_EQ(read.at("cpus"), "0,5-7");
      EXPECT_EQ(read.at("core_limit"), 3);
      EXPECT_GT(read.at("resident_bytes"), 0);
      EXPECT_GE(read.at("cpu_user"), 0);
    }
  }
}

TEST(ResourceWatch, OnlyOneProcessOfAHostReportsOnIt) {
  std::vector<int> ranks;
  {
    const ResourceWatch watch([&](const ResourcesUsed& used) { ranks.push_back(used.figures.rank); }, 0.01, {},
                              {"n", 3, false, 0});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_FALSE(ranks.empty());
  for (const int rank : ranks) EXPECT_EQ(rank, 3);
}

TEST(ResourceWatch, AReceiverThatFailsIsLeftAlone) {
  base::set_log_level(base::LogLevel::off);
  int calls = 0;
  {
    const ResourceWatch watch(
        [&](const ResourcesUsed&) {
          ++calls;
          throw std::runtime_error("nobody listens");
        },
        0.01);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  base::set_log_level(base::LogLevel::info);
  EXPECT_EQ(calls, 1);
}

ResourceFigures of_host(const std::string& host, double cpu, double memory, double received, double sent) {
  return {.host = host,
          .period_seconds = 1,
          .cpu = cpu,
          .cores = 4,
          .memory_bytes = memory,
          .network_received_bytes = received,
          .network_sent_bytes = sent};
}

ResourceFigures of_process(const std::string& host, int rank, double cpu, const std::string& cpus, double memory,
                           double shared) {
  return {.host = host,
          .rank = rank,
          .period_seconds = 1,
          .cpu = cpu,
          .cpus = cpus,
          .memory_bytes = memory,
          .shared_bytes = shared};
}

TEST(ResourceTotals, AreThoseOfTheWholeCluster) {
  ResourceTotals totals;
  EXPECT_FALSE(totals.total());
  // Two hosts with four cores each. The run may use all of `a` and two cores of `b`, where it has two processes.
  for (int second = 0; second < 3; ++second) {
    totals.add(of_process("a", 0, 3, "0-3", 100, 10), second);
    totals.add(of_host("a", 4, 1000, second == 1 ? 50 : 10, 20), second);
    totals.add(of_process("b", 1, 0.5, "0,2", 200, 150), second);
    totals.add(of_host("b", 2, 500, second == 1 ? 70 : 10, 30), second);
    totals.add(of_process("b", 2, 1, "0,2", 180, 120), second);
  }
  const std::optional<ClusterUse> use = totals.total();
  ASSERT_TRUE(use);
  EXPECT_EQ(use->hosts, 2);
  EXPECT_EQ(use->cores, 8);
  EXPECT_DOUBLE_EQ(use->cpu_share, 6.0 / 8);
  EXPECT_DOUBLE_EQ(use->cpu_share_of_run, 4.5 / 6);
  EXPECT_EQ(use->network_bytes, 10 + 50 + 10 + 10 + 70 + 10);
  EXPECT_EQ(use->network_peak_bytes_per_second, 120) << "received, in the second second";
  EXPECT_EQ(use->memory_peak_bytes, 1500);
  EXPECT_EQ(use->memory_peak_of_run_bytes, 90 + 10 + 50 + 60 + 150)
      << "own parts, and the largest shared one of a host";
}

TEST(ResourceTotals, OfAContainerThatMayUseFewerCores) {
  ResourceTotals totals;
  for (int rank = 0; rank < 2; ++rank) {
    ResourceFigures figures = of_process("a", rank, 0.75, "0-63", 100, 10);
    figures.core_limit = 2;
    totals.add(figures, 0);
  }
  EXPECT_DOUBLE_EQ(totals.total()->cpu_share_of_run, 1.5 / 2);
}

TEST(ResourceTotals, ForgetALostHostAndTrustNoShortPeriod) {
  ResourceTotals totals;
  totals.add(of_host("a", 1, 1000, 0, 0), 0);
  totals.add(of_host("b", 1, 1000, 0, 0), 0);
  totals.add(of_host("a", 1, 1500, 0, 0), 10);  // b has been silent for ten seconds
  EXPECT_EQ(totals.total()->memory_peak_bytes, 2000);
  ResourceFigures last = of_host("a", 1, 0, 1000, 0);
  last.period_seconds = 0.001;
  totals.add(last, 11);
  EXPECT_EQ(totals.total()->network_peak_bytes_per_second, 4000) << "at least a quarter of a second";
}

}  // namespace
}  // namespace trireme::observe
