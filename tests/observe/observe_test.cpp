// Traces that other programs can read, and samples of what this process uses.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/system/clock.h"
#include "base/system/log.h"
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

const json& span_of(const std::vector<json>& spans, int rank, const std::string& name) {
  for (const json& span : spans)
    if (span.at("pid") == rank && span.at("name") == name) return span;
  ADD_FAILURE() << "rank " << rank << " has no span '" << name << "'";
  return spans.at(0);
}

TEST(Trace, TellsOfAllRanks) {
  const TemporaryFolder folder;
  const std::int64_t start = base::now_ns(), day = 86'400'000'000'000;
  std::string packed;
  {
    Trace other(3);  // gone before its spans are written
    const std::string name = "exchange \"quoted\"\n";
    other.name_lane(2, "lane \\ two");
    other.add(name.c_str(), 2, start + day + 1'000'000, start + day + 3'000'000);
    other.add("step", 2, start + day - 5'000'000, start + day);  // before the first span here
    other.add("step", 2, start + day, start + day + 1);
    other.add("step", 2, start + day, start + day + 1);
    packed = other.pack();
  }
  Trace trace;
  trace.name_rank(1, "rank 1 on \"here\"");
  trace.name_lane(2, "steps");
  trace.add("own step", 2, start, start + 2'000'000);
  trace.add_rank(4, "rank 4 on there", packed, day);
  trace.add_rank(5, "rank 5", Trace().pack(), 0);
  trace.write(folder / "trace.json");
  const json read = json::parse(base::read_text(folder / "trace.json"));
  const std::vector<json> spans = of_phase(read, "X");
  ASSERT_EQ(spans.size(), 4u);
  for (const json& span : spans) EXPECT_GE(span.at("ts").get<double>(), 0);
  const double own = span_of(spans, 1, "own step").at("ts").get<double>();
  const json& exchange = span_of(spans, 4, "exchange \"quoted\"\n");
  EXPECT_NEAR(exchange.at("ts").get<double>() - own, 1000, 2e-3);
  EXPECT_NEAR(exchange.at("dur").get<double>(), 2000, 2e-3);
  EXPECT_EQ(exchange.at("tid"), 2);
  EXPECT_NEAR(span_of(spans, 4, "step").at("ts").get<double>() - own, -5000, 2e-3);
  std::vector<std::string> names;
  for (const json& event : of_phase(read, "M"))
    names.push_back(std::to_string(event.at("pid").get<int>()) + " " + event.at("args").at("name").get<std::string>());
  EXPECT_EQ(names, (std::vector<std::string>{"1 rank 1 on \"here\"", "1 steps", "4 rank 4 on there", "4 lane \\ two",
                                             "5 rank 5"}));
  EXPECT_EQ(read.at("otherData").at("spans_left_out"), 1);
}

TEST(Trace, GoesOnWithTheFileOfAnEarlierProcess) {
  const TemporaryFolder folder;
  const auto path = folder / "trace.json";
  for (int process = 0; process < 3; ++process) {
    Trace trace;
    const std::int64_t now = base::now_ns();
    trace.go_on_with_file();
    trace.name_rank(1000, "helm");
    trace.name_lane(0, process < 2 ? "meetings" : "others");
    trace.add("checkpoint", 0, now + 1000, now + 3'000'000);
    trace.write(path);
    trace.write(path);  // once more: nothing is there twice
  }
  const json written = json::parse(base::read_text(path));
  std::vector<double> starts, ends;
  std::map<std::string, int> names;
  for (const auto& event : written["traceEvents"]) {
    if (event["ph"] == "M") {
      ++names[event["args"]["name"].get<std::string>()];
      continue;
    }
    starts.push_back(event["ts"]);
    ends.push_back(starts.back() + event["dur"].get<double>());
  }
  EXPECT_EQ(names, (std::map<std::string, int>{{"helm", 1}, {"meetings", 1}, {"others", 1}}));
  ASSERT_EQ(starts.size(), 3u) << "a span of each process";
  EXPECT_GE(starts[1], ends[0] - 0.001);
  EXPECT_GE(starts[2], ends[1] - 0.001);
}

TEST(Trace, ADamagedEarlierFileIsReplaced) {
  const TemporaryFolder folder;
  const auto path = folder / "trace.json";
  const std::string start = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const std::string& text :
       {std::string("nonsense"), std::string(), start, start + "{\"ph\":\"X\"},\n],\"otherData\":{}}\n", start + "{]",
        start + "\n],\"otherData\":{\"spans_left_out\":\"many\"}}", std::string("[[[[\n\0\n", 7)}) {
    base::write_text_atomically(path, text);
    Trace trace;
    trace.go_on_with_file();
    trace.add("step", 0, base::now_ns(), base::now_ns() + 1000);
    trace.write(path);
    const json written = json::parse(base::read_text(path), nullptr, false);
    ASSERT_TRUE(written.is_object()) << text;
    EXPECT_EQ(written["traceEvents"].size(), 2u) << text;
  }
}

TEST(Trace, ADamagedPackIsARunError) {
  Trace other;
  other.name_lane(1, "lane");
  other.add("step", 1, 10, 20);
  const std::string whole = other.pack();
  Trace trace;
  const auto expect_damaged = [&](const std::string& packed) {
    EXPECT_NE(support::sentence(base::ErrorKind::run, [&] { trace.add_rank(1, "rank 1", packed, 0); }).find("damaged"),
              std::string::npos);
  };
  for (std::size_t length = 0; length < whole.size(); ++length) expect_damaged(whole.substr(0, length));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    expect_damaged(changed);
  }
  expect_damaged(whole + "more");
  // Numbers that point nowhere, under a hash that is right.
  const PackedTrace good{{"step"}, {{1, 0}}, {{0, 1, 10, 20}}, 0};
  PackedTrace wrong = good;
  wrong.lanes[0].second = 1;
  expect_damaged(pack(wrong));
  wrong = good;
  wrong.spans[0].name = 7;
  expect_damaged(pack(wrong));
  trace.add_rank(1, "rank 1", pack(good), 0);
}

TEST(Trace, UnwritableIsARunError) {
  const TemporaryFolder folder;
  support::sentence(base::ErrorKind::run, [&] { Trace().write(folder.path() / "absent" / "trace.json"); });
}

}  // namespace
}  // namespace trireme::observe
