// Text of single events of a chrome trace: names of processes and lanes, spans, arrows, marks.
// Pure functions.
// Times are microseconds. Spans are formatted by hand: a fast network has ten thousands of them per second.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "observe/trace/span.h"

namespace trireme::observe {

std::string process_event(int process, std::string_view name);
std::string lane_event(int process, int lane, std::string_view name);

struct PlacedSpan {
  const Span& span;
  int process = 0, lane = 0;
  double start_us = 0, end_us = 0;
  std::string_view detail;  // with a detail its text is an argument
};
// Appends the span, and the arrows that begin or end there, each after a comma and a newline.
void append_span(std::string& text, const PlacedSpan& placed);

// A moment of the whole run ("resumed") with arguments as JSON text, or "".
std::string mark_event(std::string_view name, int process, int lane, double at_us, std::string_view arguments);

}  // namespace trireme::observe
