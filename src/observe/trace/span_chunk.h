// SpanChunk: spans of one process as they are sent to the helm. It is complete in itself: any other may be lost.
// Pure functions.
//
//   pack   = magic process text(name) clock texts lanes spans left_out hash
//   clock  = at ahead drift bound       texts = count (length bytes)...      lanes = count (number text)...
//   spans  = count (lane kind keeps detail step start end arrow_out arrow_in arguments)...
// process, lane, counts, lengths and indices of texts have 4 bytes, kind and keeps 2, the rest 8. The hash is XXH3 of
// everything before it. Byte order is the machine's: both processes run the same build.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/clock_model.h"
#include "observe/trace/span.h"

namespace trireme::observe {

struct SpanChunk {
  struct Entry {
    std::int32_t lane = 0;
    std::uint16_t keeps = 1;  // 0: it stays only while it is recent
    Span span;                // detail is an index into texts
  };
  std::int32_t process = 0;  // its number in the trace
  std::string name;          // "worker 1 on here"
  base::ClockModel clock;
  std::vector<std::string> texts{""};
  std::vector<std::pair<std::int32_t, std::uint32_t>> lanes;  // number and index of its name
  std::vector<Entry> spans;
  std::uint64_t left_out = 0;  // spans of this process so far
};

std::string pack(const SpanChunk& chunk);
// A damaged pack is a run error.
SpanChunk unpack_spans(std::string_view packed);

}  // namespace trireme::observe
