// Trace: time spans on named lanes, written as a chrome trace (chrome://tracing, ui.perfetto.dev).
// Thread-safe.
// The spans of other ranks can be added, so one file shows the whole job, each rank as a process; their clocks may
// differ. It keeps at most `limit` spans of its own rank and writes to the file how many were left out.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/files.h"
#include "observe/earlier_trace.h"
#include "observe/trace_pack.h"

namespace trireme::observe {

class Trace {
 public:
  explicit Trace(std::size_t limit = 200'000);
  // Adds a span on a lane (a thread or an activity). `name` must outlive the trace (a literal).
  void add(const char* name, int lane, std::int64_t start_ns, std::int64_t end_ns);
  void name_lane(int lane, const std::string& name);
  // The rank that the spans belong to; rank 0 by default.
  void name_rank(int rank, const std::string& name);

  // Spans and lane names in packed form, for the trace of another rank.
  std::string pack() const;
  // Adds the packed trace of another rank, whose clock is `clock_ahead_ns` ahead of this one's. A damaged one is a run
  // error.
  void add_rank(int rank, const std::string& name, std::string_view packed, std::int64_t clock_ahead_ns);

  // The file that write() replaces begins with what an earlier process wrote there: its spans stay, and those of this
  // trace come after them.
  void go_on_with_file() { goes_on_ = true; }
  void write(const base::fs::path& path);

 private:
  struct Span {
    const char* name;
    int lane;
    std::int64_t start_ns, end_ns;
  };
  struct Rank {
    int rank = 0;
    std::string name;
    PackedTrace trace{};  // in this rank's time
  };

  std::size_t limit_;
  std::int64_t origin_ns_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<Span> spans_;
  std::vector<std::pair<int, std::string>> lanes_;
  std::size_t left_out_ = 0;
  Rank own_{0, "trireme rank 0"};  // its spans are in spans_
  std::vector<Rank> others_;
  bool goes_on_ = false;
  std::optional<EarlierTrace> earlier_;  // what the file had before the first write()
};

}  // namespace trireme::observe
