// TraceWriter: makes trace.json and trace_now.json of the spans of all processes, in the helm's time.
// One thread at a time. See docs/run_folder.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "observe/trace/span_chunk.h"
#include "observe/trace/trace_file.h"

namespace trireme::observe {

class TraceWriter {
 public:
  static constexpr int kHelm = 1000;  // the helm's process number

  // `goes_on`: after the events that an earlier process wrote.
  TraceWriter(const base::fs::path& folder, bool goes_on, TraceLimits limits);

  void add(const SpanChunk& chunk);
  // What the helm does: times of its own clock.
  void add_meeting(std::string_view name, std::int64_t step, std::int64_t start_ns, std::int64_t end_ns);
  void add_mark(std::string_view name, std::int64_t at_ns, std::string_view arguments);
  // Writes what was added; takes out what is no longer recent, and replaces trace_now.json, when it is time for that.
  void write();
  // Takes out all that is not of the last seconds.
  void finish();

 private:
  // A span of the last seconds, for trace_now.json.
  struct Recent {
    std::string event;
    double start_us = 0, end_us = 0;
    int process = 0;
    std::int64_t step = 0;
    bool is_step = false;
  };

  double us(std::int64_t helm_ns) const;
  void name_once(const std::string& event);
  void note_clock(const SpanChunk& chunk);
  void write_now(std::int64_t now_ns);

  base::fs::path now_path_;
  TraceFile file_;
  std::int64_t origin_ns_;
  std::set<std::string> names_;  // events that name processes and lanes
  std::map<int, std::uint64_t> left_out_;
  // When a process's clock was noted last, and its bound.
  std::map<int, std::pair<std::int64_t, std::int64_t>> clock_noted_;
  std::deque<Recent> recent_;
  double newest_us_ = 0;
  std::int64_t trimmed_ns_, now_written_ns_;
  std::string text_;
};

}  // namespace trireme::observe
