// Traces that other programs can read, and samples of what this process uses.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "observe/resources.h"
#include "observe/trace.h"
#include "support/core_errors.h"
#include "support/temporary_folder.h"

namespace trireme::observe {
namespace {

using nlohmann::json;
using test::TemporaryFolder;

std::vector<json> of_phase(const json& trace, const std::string& phase) {
  std::vector<json> found;
  for (const json& event : trace.at("traceEvents"))
    if (event.at("ph") == phase) found.push_back(event);
  return found;
}

TEST(Trace, IsAChromeTrace) {
  const TemporaryFolder folder;
  Trace trace;
  trace.name_lane(3, "member 3");
  const std::int64_t start = base::now_ns();
  trace.add("forward", 3, start, start + 1'500'000);
  trace.add("backward", 0, start + 1'500'000, start + 4'000'000);
  trace.write(folder / "trace.json");
  const json read = json::parse(base::read_text(folder / "trace.json"));
  const std::vector<json> spans = of_phase(read, "X");
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].at("name"), "forward");
  EXPECT_EQ(spans[0].at("tid"), 3);
  EXPECT_NEAR(spans[0].at("dur").get<double>(), 1500, 1e-3);  // microseconds
  EXPECT_NEAR(spans[1].at("dur").get<double>(), 2500, 1e-3);
  EXPECT_NEAR(spans[1].at("ts").get<double>() - spans[0].at("ts").get<double>(), 1500, 2e-3);
  EXPECT_GE(spans[0].at("ts").get<double>(), 0);
  bool named = false;
  for (const json& event : of_phase(read, "M"))
    named = named ||
            (event.at("name") == "thread_name" && event.at("tid") == 3 && event.at("args").at("name") == "member 3");
  EXPECT_TRUE(named);
  EXPECT_EQ(read.at("otherData").at("spans_left_out"), 0);
}

TEST(Trace, EmptyIsReadable) {
  const TemporaryFolder folder;
  Trace().write(folder / "trace.json");
  EXPECT_TRUE(of_phase(json::parse(base::read_text(folder / "trace.json")), "X").empty());
}

TEST(Trace, CountsWhatItLeavesOut) {
  const TemporaryFolder folder;
  Trace trace(10);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&trace, t] {
      for (int i = 0; i < 100; ++i) trace.add("work", t, 1, 2);
    });
  for (std::thread& thread : threads) thread.join();
  trace.write(folder / "trace.json");
  const json read = json::parse(base::read_text(folder / "trace.json"));
  EXPECT_EQ(of_phase(read, "X").size(), 10u);
  EXPECT_EQ(read.at("otherData").at("spans_left_out"), 390);
}

TEST(Trace, UnwritableIsARunError) {
  const TemporaryFolder folder;
  support::sentence(base::ErrorKind::run, [&] { Trace().write(folder.path() / "absent" / "trace.json"); });
}

TEST(Resources, SamplesGrowWithUse) {
  const ResourceSample before = sample_resources();
  EXPECT_GT(before.resident_bytes, 0);
  EXPECT_GE(peak_resident_bytes(), 0.5 * before.resident_bytes);
  volatile double work = 1;
  const std::int64_t start = base::now_ns();
  while (base::seconds_since(start) < 0.2) work = work * 1.0000001;
  std::vector<char> memory(64u << 20);
  for (std::size_t i = 0; i < memory.size(); i += 512) memory[i] = static_cast<char>(i);
  const ResourceSample after = sample_resources();
  EXPECT_GE(after.seconds - before.seconds, 0.2);
  EXPECT_LT(after.seconds - before.seconds, 60);
  const double cpu =
      after.cpu_user_seconds + after.cpu_system_seconds - before.cpu_user_seconds - before.cpu_system_seconds;
  EXPECT_GT(cpu, 0.02);  // a busy machine may give a tenth of a core
  EXPECT_LT(cpu, after.seconds - before.seconds + 0.1);
  EXPECT_GT(after.resident_bytes - before.resident_bytes, 50e6);
  EXPECT_GE(peak_resident_bytes(), after.resident_bytes * 0.9);
  EXPECT_GE(after.network_received_bytes, before.network_received_bytes);
}

TEST(ResourceWatch, WritesALinePerPeriodAndStopsAtOnce) {
  const TemporaryFolder folder;
  const std::int64_t start = base::now_ns();
  {
    const ResourceWatch watch(folder / "resources.jsonl", 0.05);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  { const ResourceWatch slow(folder / "slow.jsonl", 3600); }
  EXPECT_LT(base::seconds_since(start), 30);
  std::istringstream lines(base::read_text(folder / "resources.jsonl"));
  int count = 0;
  double before = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const json read = json::parse(line);
    EXPECT_GE(read.at("seconds").get<double>(), before);
    before = read.at("seconds").get<double>();
    for (const char* key : {"cpu_user", "cpu_system", "resident_bytes", "network_received_bytes", "network_sent_bytes"})
      EXPECT_GE(read.at(key).get<double>(), 0) << key;
  }
  EXPECT_GE(count, 2);
  EXPECT_LE(count, 8);
}

TEST(ResourceWatch, AFullDiskDoesNotEndTheRun) {
  if (!base::fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  base::set_log_level(base::LogLevel::off);
  {
    const ResourceWatch watch("/dev/full", 0.01);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  base::set_log_level(base::LogLevel::info);
}

TEST(ResourceWatch, NoSuchFolderIsARunError) {
  const TemporaryFolder folder;
  support::sentence(base::ErrorKind::run, [&] { ResourceWatch(folder.path() / "absent" / "resources.jsonl"); });
}

}  // namespace
}  // namespace trireme::observe
