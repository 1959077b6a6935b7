// Trace: spans of time on named lanes, written as a chrome trace (chrome://tracing, ui.perfetto.dev). The spans of
// other ranks, each a process there, may be added to it, so that one file tells of all; their clocks may differ. Safe
// from any thread. Of its own spans at most `limit` are kept; what was left out is counted in the file.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/files.h"
#include "observe/trace_pack.h"

namespace trireme::observe {

class Trace {
 public:
  explicit Trace(std::size_t limit = 200'000);
  // A span on a lane (a thread or what it does); `name` must outlive the trace (a literal).
  void add(const char* name, int lane, std::int64_t start_ns, std::int64_t end_ns);
  void name_lane(int lane, const std::string& name);
  // Whose spans these are; without it those of rank 0.
  void name_rank(int rank, const std::string& name);

  // Spans and names of lanes, for the trace of another rank.
  std::string pack() const;
  // Takes what another rank packed; its clock is so far ahead of this one's. A damaged pack is a run error.
  void add_rank(int rank, const std::string& name, std::string_view packed, std::int64_t clock_ahead_ns);

  void write(const base::fs::path& path) const;

 private:
  struct Span {
    const char* name;
    int lane;
    std::int64_t start_ns, end_ns;
  };
  struct Rank {
    int rank = 0;
    std::string name;
    PackedTrace trace{};  // by this rank's clock
  };

  std::size_t limit_;
  std::int64_t origin_ns_;
  mutable std::mutex mutex_;  // guards all below
  std::vector<Span> spans_;
  std::vector<std::pair<int, std::string>> lanes_;
  std::size_t left_out_ = 0;
  Rank own_{0, "trireme rank 0"};  // without its spans
  std::vector<Rank> others_;
};

}  // namespace trireme::observe
