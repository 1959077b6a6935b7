// Trace: spans of time on named lanes, written as a chrome trace (chrome://tracing, ui.perfetto.dev).
// add() is safe from any thread. At most `limit` spans are kept; what was left out is counted in the file.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"

namespace trireme::observe {

class Trace {
 public:
  explicit Trace(std::size_t limit = 200'000);
  // A span on a lane (a thread or a rank); `name` must outlive the trace (a literal).
  void add(const char* name, int lane, std::int64_t start_ns, std::int64_t end_ns);
  void name_lane(int lane, const std::string& name);
  void write(const base::fs::path& path) const;

 private:
  struct Span {
    const char* name;
    int lane;
    std::int64_t start_ns, end_ns;
  };
  std::size_t limit_;
  std::int64_t origin_ns_;
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
  std::vector<std::pair<int, std::string>> lanes_;
  std::size_t left_out_ = 0;
};

}  // namespace trireme::observe
