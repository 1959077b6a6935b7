// Spans of several processes on one time line.
#include "observe/trace/trace_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/system/clock.h"
#include "support/chrome_trace.h"
#include "support/temporary_folder.h"

namespace trireme::observe {
namespace {

using nlohmann::json;

constexpr std::int64_t kMs = 1'000'000, kS = 1000 * kMs;

class TraceWriters : public testing::Test {
 protected:
  json read(const char* name) const { return json::parse(base::read_text(folder_ / name)); }
  static SpanChunk chunk_of(int process, const std::string& name, base::ClockModel clock = {}) {
    SpanChunk chunk;
    chunk.process = process;
    chunk.name = name;
    chunk.clock = clock;
    chunk.texts = {"", "steps", "conv \"1\"\n"};
    chunk.lanes = {{0, 1}};
    return chunk;
  }
  static const json& find(const json& trace, int process, const std::string& name) {
    for (const json& event : trace.at("traceEvents"))
      if (event.at("pid") == process && event.at("name") == name) return event;
    ADD_FAILURE() << "process " << process << " has no '" << name << "'";
    return trace.at("traceEvents").at(0);
  }

  test::TemporaryFolder folder_;
};

TEST_F(TraceWriters, SpansHaveTheirArguments) {
  {
    TraceWriter writer(folder_.path(), false, {});
    const std::int64_t now = base::now_ns();
    SpanChunk chunk = chunk_of(2, "worker 2 on \"here\"");
    chunk.spans.push_back(
        {0, 1, {.start_ns = now + kMs, .end_ns = now + 3 * kMs + 1, .step = 7, .arguments = {0.125, 64}}});
    chunk.spans.push_back({0,
                           1,
                           {.start_ns = now + 2 * kMs,
                            .end_ns = now + 4 * kMs,
                            .step = 7,
                            .arrow_out = 255,
                            .arguments = {3, 1 << 20, std::nan("")},
                            .kind = SpanKind::reduce,
                            .detail = 2}});
    chunk.spans.push_back({0, 1, {.start_ns = now + 2 * kMs, .end_ns = now + 4 * kMs, .arrow_in = 255}});
    writer.add(chunk);
    writer.add(chunk);
    writer.add_meeting("checkpoint", 7, now, now + kMs);
    writer.add_mark("lost", now, R"({"step":7})");
    writer.write();
    writer.finish();
  }
  const json trace = read("trace.json");
  EXPECT_EQ(test::expect_chrome_trace(trace), 1);
  const json& step = find(trace, 2, "step");
  EXPECT_EQ(step.at("args").at("step"), 7);
  EXPECT_EQ(step.at("args").at("loss"), 0.125);
  EXPECT_NEAR(step.at("dur").get<double>(), 2000.001, 1e-6);
  const json& sum = find(trace, 2, "reduce");
  EXPECT_EQ(sum.at("args").at("bytes"), 1 << 20);
  EXPECT_TRUE(sum.at("args").at("waited_for").is_null());
  EXPECT_EQ(sum.at("args").at("detail"), "conv \"1\"\n");
  EXPECT_NEAR(sum.at("ts").get<double>() - step.at("ts").get<double>(), 1000, 1e-3);
  EXPECT_EQ(find(trace, 2, "process_name").at("args").at("name"), "worker 2 on \"here\"");
  EXPECT_EQ(find(trace, TraceWriter::kHelm, "lost").at("ph"), "i");
  int names = 0;
  for (const json& event : trace.at("traceEvents")) names += event.at("name") == "thread_name" ? 1 : 0;
  EXPECT_EQ(names, 2) << "of the worker's lane and the helm's, once each";
}

// Three workers push to a server; their clocks are a second apart and drift by 200 ppm, and are known up to 50 us.
TEST_F(TraceWriters, NothingIsReceivedBeforeItIsSent) {
  constexpr std::int64_t kBound = 50'000;
  const std::vector<std::int64_t> ahead{0, kS, -kS, kS / 2};
  const std::vector<double> drift{0, 200e-6, -200e-6, 100e-6};
  const std::int64_t start = base::now_ns();
  const auto own_time = [&](std::size_t process, std::int64_t time) {
    return time + ahead[process] +
           static_cast<std::int64_t>(std::llround(drift[process] * static_cast<double>(time - start)));
  };
  {
    TraceWriter writer(folder_.path(), false, {});
    for (std::int64_t second = 0; second < 60; ++second) {
      const std::int64_t now = start + second * kS;
      for (std::size_t process = 0; process < 4; ++process) {
        const std::int64_t wrong = process == 0                                             ? 0
                                   : (second + static_cast<std::int64_t>(process)) % 2 == 0 ? kBound
                                                                                            : -kBound;
        const std::int64_t own = own_time(process, now);
        SpanChunk chunk = chunk_of(static_cast<int>(process), process == 0 ? "server 0" : "worker",
                                   {own, own - now + wrong, drift[process], process == 0 ? 0 : kBound});
        for (int other = 1; other < 4; ++other) {
          if (process != 0 && static_cast<std::size_t>(other) != process) continue;
          const std::int64_t sent = now + other * 100 * kMs, received = sent + 10'000;  // 10 us later
          const std::uint64_t number = arrow_number(SpanKind::push, second, other, 0, 5);
          Span span{.start_ns = own_time(process, process == 0 ? received - 5'000 : sent),
                    .end_ns = own_time(process, process == 0 ? received : sent + kMs),
                    .step = second + 1,
                    .kind = process == 0 ? SpanKind::receive_push : SpanKind::push};
          (process == 0 ? span.arrow_in : span.arrow_out) = number;
          chunk.spans.push_back({0, 1, span});
        }
        writer.add(chunk);
      }
      writer.write();
    }
  }
  const json trace = read("trace.json");
  EXPECT_EQ(test::expect_chrome_trace(trace, 1e-3 * kBound), 180);
  double bound = 0;
  for (const json& event : trace.at("traceEvents"))
    if (event.at("name") == "clock") bound = std::max(bound, event.at("args").at("bound_us").get<double>());
  EXPECT_EQ(bound, 1e-3 * kBound) << "the trace tells of the bound";
}

TEST_F(TraceWriters, TheNewestStepThatAllHave) {
  {
    TraceWriter writer(folder_.path(), false, {});
    const std::int64_t now = base::now_ns();
    for (int process = 0; process < 2; ++process) {
      SpanChunk chunk = chunk_of(process, "worker");
      for (int step = 1; step <= 5 - process; ++step)
        for (const SpanKind kind : {SpanKind::step, SpanKind::backward})
          chunk.spans.push_back(
              {0,
               0,
               {.start_ns = now + step * kMs + 1, .end_ns = now + (step + 1) * kMs - 1, .step = step, .kind = kind}});
      writer.add(chunk);
    }
    writer.finish();
  }
  const json now = read("trace_now.json");
  EXPECT_EQ(now.at("otherData").at("step"), 4);
  int spans = 0;
  for (const json& event : now.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    ++spans;
    EXPECT_EQ(event.at("args").at("step"), 4);
    EXPECT_GE(event.at("ts").get<double>(), now.at("otherData").at("begin_us").get<double>());
  }
  EXPECT_EQ(spans, 4);
}

TEST_F(TraceWriters, AResumedRunComesAfterwards) {
  for (int process = 0; process < 2; ++process) {
    TraceWriter writer(folder_.path(), true, {});
    SpanChunk chunk = chunk_of(0, "worker");
    const std::int64_t now = base::now_ns();
    chunk.spans.push_back({0, 1, {.start_ns = now - kS, .end_ns = now + kMs, .step = process + 1}});
    writer.add(chunk);
    writer.finish();
  }
  std::vector<double> starts, ends;
  const json trace = read("trace.json");
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    starts.push_back(event.at("ts"));
    ends.push_back(starts.back() + event.at("dur").get<double>());
  }
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_GE(starts[1], ends[0] - 1e-3);
}

}  // namespace
}  // namespace trireme::observe
