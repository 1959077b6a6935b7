// Which spans leave a process, and when.
#include "observe/trace/span_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/system/clock.h"
#include "support/core_errors.h"

namespace trireme::observe {
namespace {

// The entries of all chunks that a stream delivers.
class Collected {
 public:
  SpanStream::Deliver deliver() {
    return [this](std::string packed) {
      EXPECT_LE(packed.size(), SpanStream::kMostBytes + 256);
      const std::lock_guard lock(mutex_);
      chunks_.push_back(unpack_spans(packed));
    };
  }
  std::vector<SpanChunk::Entry> entries() {
    const std::lock_guard lock(mutex_);
    std::vector<SpanChunk::Entry> all;
    for (const SpanChunk& chunk : chunks_) all.insert(all.end(), chunk.spans.begin(), chunk.spans.end());
    return all;
  }
  std::set<std::int64_t> steps(bool keeps) {
    std::set<std::int64_t> all;
    for (const auto& entry : entries())
      if ((entry.keeps != 0) == keeps) all.insert(entry.span.step);
    return all;
  }
  std::vector<SpanChunk> chunks() {
    const std::lock_guard lock(mutex_);
    return chunks_;
  }

 private:
  std::mutex mutex_;
  std::vector<SpanChunk> chunks_;
};

base::ClockModel own_clock() { return {}; }

Span span_of(std::int64_t step, std::int64_t start_ns) {
  return {.start_ns = start_ns, .end_ns = start_ns + 10, .step = step};
}

SpanStreamOptions slow_stream(TraceMode mode) {  // nothing is sent before flush() or the end
  SpanStreamOptions options;
  options.mode = mode;
  options.process = 3;
  options.name = "worker 3";
  options.period_seconds = 1000;
  return options;
}

TEST(SpanStream, TheFirstStepsAndEveryThousandthStay) {
  SpanRecorder recorder;
  SpanLane& lane = recorder.lane(0, "steps");
  Collected collected;
  {
    SpanStream stream(recorder, slow_stream(TraceMode::sampled), own_clock, collected.deliver());
    const std::int64_t now = base::now_ns();
    for (std::int64_t step = 501; step <= 3500; ++step) lane.add(span_of(step, now));
    lane.add(span_of(0, now));
    stream.flush();
  }
  std::set<std::int64_t> expected{0, 1000, 2000, 3000};
  for (std::int64_t step = 501; step <= 600; ++step) expected.insert(step);
  EXPECT_EQ(collected.steps(true), expected);
  EXPECT_EQ(collected.entries().size(), 3001u) << "each once; the others are recent";
}

TEST(SpanStream, RecentStepsAreThinnedUntilTheEnd) {
  SpanRecorder recorder;
  SpanLane& lane = recorder.lane(0, "steps");
  Collected collected;
  SpanStreamOptions options = slow_stream(TraceMode::sampled);
  options.period_seconds = 0.01;
  options.recent_spans_per_second = 100;
  SpanStream stream(recorder, options, own_clock, collected.deliver());
  const std::int64_t start = base::now_ns();
  std::int64_t step = 0;
  while (base::seconds_since(start) < 2.5) {
    for (int i = 0; i < 10; ++i) lane.add(span_of(++step, base::now_ns()));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::size_t before = collected.steps(false).size();
  EXPECT_LT(before, static_cast<std::size_t>(step) * 3 / 4);
  EXPECT_GT(before, 10u);
  stream.flush();
  EXPECT_EQ(collected.entries().size() + lane.left_out(), static_cast<std::size_t>(step));
  EXPECT_EQ(lane.left_out(), 0u);
}

TEST(SpanStream, OldSpansAreNotSentAtTheEnd) {
  SpanRecorder recorder;
  SpanLane& lane = recorder.lane(0, "steps");
  Collected collected;
  SpanStreamOptions options = slow_stream(TraceMode::sampled);
  options.recent_spans_per_second = 1e-9;
  SpanStream stream(recorder, options, own_clock, collected.deliver());
  const std::int64_t now = base::now_ns(), second = 1'000'000'000;
  lane.add(span_of(1, now));
  lane.add(span_of(151, now - 60 * second));
  lane.add(span_of(153, now - 1 * second));
  stream.flush();
  EXPECT_FALSE(std::ranges::any_of(collected.entries(), [](const auto& e) { return e.span.step == 153 && e.keeps; }));
  EXPECT_TRUE(collected.steps(false).contains(153));
}

TEST(SpanStream, AllOrNothing) {
  for (const TraceMode mode : {TraceMode::all, TraceMode::none}) {
    SpanRecorder recorder;
    SpanLane& lane = recorder.lane(2, "a lane");
    Collected collected;
    {
      SpanStream stream(recorder, slow_stream(mode), own_clock, collected.deliver());
      for (std::int64_t step = 1; step <= 5000; ++step) lane.add(span_of(step, base::now_ns()));
    }
    EXPECT_EQ(collected.steps(true).size(), mode == TraceMode::all ? 5000u : 0u);
    for (const SpanChunk& chunk : collected.chunks()) {
      EXPECT_EQ(chunk.process, 3);
      EXPECT_EQ(chunk.name, "worker 3");
      ASSERT_EQ(chunk.lanes.size(), 1u) << "every chunk is complete in itself";
      EXPECT_EQ(chunk.lanes[0].first, 2);
      EXPECT_EQ(chunk.texts[chunk.lanes[0].second], "a lane");
    }
  }
}

TEST(SpanStream, WhatDoesNotFitIsCounted) {
  SpanRecorder recorder;
  SpanLane& lane = recorder.lane(0, "steps");
  Collected collected;
  {
    SpanStream stream(recorder, slow_stream(TraceMode::all), own_clock, collected.deliver());
    for (std::size_t i = 0; i < SpanLane::kRoom + 7; ++i) lane.add(span_of(1, base::now_ns()));
  }
  EXPECT_EQ(collected.entries().size(), SpanLane::kRoom);
  EXPECT_EQ(collected.chunks().back().left_out, 7u);
}

TEST(SpanStream, EndsQuietlyWhenNobodyListens) {
  SpanRecorder recorder;
  SpanLane& lane = recorder.lane(0, "steps");
  int calls = 0;
  SpanStream stream(recorder, slow_stream(TraceMode::all), own_clock, [&](const std::string&) {
    ++calls;
    base::run_error("the helm is gone");
  });
  for (int i = 0; i < 3; ++i) {
    lane.add(span_of(1, 1));
    stream.flush();
  }
  EXPECT_EQ(calls, 1);
}

// Several threads record while one fetches: under a thread sanitizer this is the check of the rings.
TEST(SpanStream, ThreadsRecordWhileItSends) {
  SpanRecorder recorder;
  Collected collected;
  constexpr int kThreads = 4, kSpans = 3000;
  {
    SpanStreamOptions options = slow_stream(TraceMode::all);
    options.period_seconds = 0.001;
    SpanStream stream(recorder, options, own_clock, collected.deliver());
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        SpanLane& lane = recorder.lane(t, "thread " + std::to_string(t));
        for (int i = 0; i < kSpans; ++i) {
          Span span = span_of(i + 1, i);
          span.detail = i % 100 == 0 ? recorder.text("text " + std::to_string(i)) : 0;
          lane.add(span);
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  std::vector<int> count(kThreads);
  for (const SpanChunk& chunk : collected.chunks())
    for (const auto& entry : chunk.spans) {
      EXPECT_EQ(entry.span.step, ++count[static_cast<std::size_t>(entry.lane)]) << "in order";
      const std::int64_t i = entry.span.step - 1;
      EXPECT_EQ(chunk.texts[entry.span.detail], i % 100 == 0 ? "text " + std::to_string(i) : "");
    }
  EXPECT_EQ(count, std::vector<int>(kThreads, kSpans));
}

TEST(SpanChunk, ADamagedPackIsARunError) {
  SpanChunk good;
  good.process = 2;
  good.name = "worker 2";
  good.texts = {"", "lane"};
  good.lanes = {{1, 1}};
  good.spans = {{1, 1, span_of(7, 100)}};
  const auto expect_damaged = [&](const std::string& packed) {
    EXPECT_NE(support::sentence(base::ErrorKind::run, [&] { (void)unpack_spans(packed); }).find("damaged"),
              std::string::npos);
  };
  const std::string whole = pack(good);
  const SpanChunk back = unpack_spans(whole);
  EXPECT_EQ(back.spans.at(0).span.step, 7);
  EXPECT_EQ(back.texts, good.texts);
  for (std::size_t length = 0; length < whole.size(); ++length) expect_damaged(whole.substr(0, length));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    expect_damaged(changed);
  }
  expect_damaged(whole + "more");
  // Numbers that point nowhere, under a hash that is right.
  SpanChunk wrong = good;
  wrong.lanes[0].second = 2;
  expect_damaged(pack(wrong));
  wrong = good;
  wrong.spans[0].span.detail = 7;
  expect_damaged(pack(wrong));
  wrong = good;
  wrong.spans[0].span.kind = static_cast<SpanKind>(kSpanKinds.size());
  expect_damaged(pack(wrong));
  wrong = good;
  wrong.clock.drift = NAN;
  expect_damaged(pack(wrong));
  wrong = good;
  wrong.spans[0].span.end_ns = std::numeric_limits<std::int64_t>::max();
  expect_damaged(pack(wrong));
}

}  // namespace
}  // namespace trireme::observe
