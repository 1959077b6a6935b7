#include "observe/trace/trace_events.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "observe/json_text.h"

namespace trireme::observe {
namespace {

template <class T>
void append_whole(std::string& text, T value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  text.append(digits, end.ptr);
}

// With three decimals: nanoseconds.
void append_us(std::string& text, double us) {
  auto ns = static_cast<std::int64_t>(std::llround(us * 1e3));
  if (ns < 0) {
    text += '-';
    ns = -ns;
  }
  append_whole(text, ns / 1000);
  const std::int64_t rest = ns % 1000;
  const char decimals[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  text.append(decimals, sizeof decimals);
}

void append_argument(std::string& text, double value) {
  if (!std::isfinite(value)) {
    text += "null";
  } else if (value == std::floor(value) && std::abs(value) < 1e15) {
    append_whole(text, static_cast<std::int64_t>(value));
  } else {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 9);
    text.append(digits, end.ptr);
  }
}

void append_place(std::string& text, const PlacedSpan& placed) {
  text += R"(,"pid":)";
  append_whole(text, placed.process);
  text += R"(,"tid":)";
  append_whole(text, placed.lane);
}

void append_arrow(std::string& text, const PlacedSpan& placed, std::uint64_t number, bool begins) {
  text += begins ? ",\n{\"name\":\"message\",\"cat\":\"message\",\"ph\":\"s\",\"id\":\""
                 : ",\n{\"name\":\"message\",\"cat\":\"message\",\"ph\":\"f\",\"bp\":\"e\",\"id\":\"";
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr);
  text += '"';
  append_place(text, placed);
  text += R"(,"ts":)";
  append_us(text, begins ? placed.start_us : placed.end_us);
  text += '}';
}

}  // namespace

std::string process_event(int process, std::string_view name) {
  return fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"tid":0,"args":{{"name":{}}}}})", process,
                     json_text(name));
}

std::string lane_event(int process, int lane, std::string_view name) {
  return fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", process, lane,
                     json_text(name));
}

void append_span(std::string& text, const PlacedSpan& placed) {
  const Span& span = placed.span;
  const SpanKindRow& row = row_of(span.kind);
  text += R"({"name":")";
  text += row.name;
  text += R"(","cat":")";
  text += row.category;
  text += R"(","ph":"X")";
  append_place(text, placed);
  text += R"(,"ts":)";
  append_us(text, placed.start_us);
  text += R"(,"dur":)";
  append_us(text, placed.end_us > placed.start_us ? placed.end_us - placed.start_us : 0);
  bool is_first = true;
  const auto begin_argument = [&](std::string_view name) {
    text += is_first ? R"(,"args":{")" : R"(,")";
    text += name;
    text += R"(":)";
    is_first = false;
  };
  if (span.step > 0) {
    begin_argument("step");
    append_whole(text, span.step);
  }
  for (std::size_t i = 0; i < kSpanArguments; ++i) {
    if (row.arguments[i] == nullptr) continue;
    begin_argument(row.arguments[i]);
    append_argument(text, span.arguments[i]);
  }
  if (!placed.detail.empty()) {
    begin_argument("detail");
    text += json_text(placed.detail);
  }
  text += is_first ? "}" : "}}";
  if (span.arrow_out != 0) append_arrow(text, placed, span.arrow_out, true);
  if (span.arrow_in != 0) append_arrow(text, placed, span.arrow_in, false);
}

std::string mark_event(std::string_view name, int process, int lane, double at_us, std::string_view arguments) {
  return fmt::format(R"({{"name":{},"cat":"mark","ph":"i","s":"g","pid":{},"tid":{},"ts":{:.3f}{}}})", json_text(name),
                     process, lane, at_us, arguments.empty() ? "" : fmt::format(R"(,"args":{})", arguments));
}

}  // namespace trireme::observe
