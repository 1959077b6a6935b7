// SpanStream: the observer thread of a process: fetches its spans several times a second and passes them on in chunks.
// Thread-safe. Takes the recorder's spans: one stream at a time.
//
// Which spans leave the process is decided step by step, by the step's number, so that all processes choose the same
// ones. With TraceMode::sampled, the first 100 steps and every 1000th stay in the trace. Of the other steps so many are
// sent as recent ones that they are at most about a thousand spans a second: every 2nd, 4th, 8th ... step. All spans of
// the last seconds are kept here; flush() sends the rest of them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "observe/trace/span_chunk.h"
#include "observe/trace/span_recorder.h"
#include "observe/trace/trace_mode.h"

namespace trireme::observe {

struct SpanStreamOptions {
  TraceMode mode = TraceMode::sampled;
  int process = 0;          // its number in the trace
  std::string name;         // "worker 1 on here"
  std::vector<int> cpus{};  // on which the thread may run; empty: those of the caller
  double period_seconds = 0.15;
  double recent_spans_per_second = 1000;
  std::size_t most_recent = 100'000;  // spans that are kept for flush()
  double recent_seconds = 10;
};

class SpanStream {
 public:
  using Deliver = std::function<void(std::string chunk)>;  // at most kMostBytes
  static constexpr std::size_t kMostBytes = std::size_t{15} << 10;

  // `clock`: asked for every chunk. When `deliver` throws, no more is sent.
  SpanStream(SpanRecorder& recorder, SpanStreamOptions options, std::function<base::ClockModel()> clock,
             Deliver deliver);
  ~SpanStream();  // passes on what is left of the steps that are chosen
  SpanStream(const SpanStream&) = delete;
  SpanStream& operator=(const SpanStream&) = delete;

  // Sends everything of the last seconds. Returns when it is passed on.
  void flush();

 private:
  struct Fetched {
    Span span;
    std::int32_t lane = 0;
  };

  void run();
  void pass_on(bool everything);  // REQUIRES: mutex_ is held
  bool stays(std::int64_t step);
  void choose_stride(std::size_t spans, std::int64_t now_ns);
  void send(const Fetched& fetched, bool stays);
  void send_chunk();

  SpanRecorder& recorder_;
  const SpanStreamOptions options_;
  std::function<base::ClockModel()> clock_;
  Deliver deliver_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  bool stops_ = false, has_failed_ = false;
  std::int64_t first_step_ = 0;  // of this process; 0: none yet
  std::int64_t stride_ = 1;
  std::int64_t counting_since_ns_ = 0;
  std::size_t counted_ = 0;
  std::vector<Span> spans_;
  std::deque<Fetched> kept_back_;  // recent, not sent
  SpanChunk chunk_;
  std::size_t chunk_bytes_ = 0;
  std::map<std::uint32_t, std::uint32_t> text_of_;  // text of the recorder -> of the chunk
  std::map<std::int32_t, std::string> lane_names_;
  std::thread thread_;
};

}  // namespace trireme::observe
