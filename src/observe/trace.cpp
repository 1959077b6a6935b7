#include "observe/trace.h"

#include <fmt/core.h>

#include "base/clock.h"

namespace trireme::observe {

Trace::Trace(std::size_t limit) : limit_(limit), origin_ns_(base::now_ns()) { spans_.reserve(limit); }

void Trace::add(const char* name, int lane, std::int64_t start_ns, std::int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  if (spans_.size() < limit_)
    spans_.push_back({name, lane, start_ns, end_ns});
  else
    ++left_out_;
}

void Trace::name_lane(int lane, const std::string& name) {
  const std::lock_guard lock(mutex_);
  lanes_.emplace_back(lane, name);
}

void Trace::write(const base::fs::path& path) const {
  const std::lock_guard lock(mutex_);
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const auto& [lane, name] : lanes_)
    text += fmt::format(
        "{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":{},\"args\":{{\"name\":\"{}\"}}}},\n", lane, name);
  for (const Span& span : spans_)
    text += fmt::format("{{\"name\":\"{}\",\"ph\":\"X\",\"pid\":0,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f}}},\n",
                        span.name, span.lane, 1e-3 * static_cast<double>(span.start_ns - origin_ns_),
                        1e-3 * static_cast<double>(span.end_ns - span.start_ns));
  text += fmt::format(
      "{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{{\"name\":\"trireme rank 0\"}}}}\n"
      "],\"otherData\":{{\"spans_left_out\":{}}}}}\n",
      left_out_);
  base::write_text_atomically(path, text);
}

}  // namespace trireme::observe
