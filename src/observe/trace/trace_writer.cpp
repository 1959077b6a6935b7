#include "observe/trace/trace_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/system/clock.h"
#include "observe/trace/trace_events.h"

namespace trireme::observe {
namespace {

constexpr int kMeetings = 0, kClocks = 1;                // lanes of the helm
constexpr std::int64_t kTrimEveryNs = 10'000'000'000;    // as long as what is recent
constexpr std::int64_t kNowEveryNs = 1'000'000'000;      // trace_now.json
constexpr std::int64_t kClockEveryNs = 10'000'000'000;   // events that tell of a process's clock
constexpr std::size_t kNowBytes = std::size_t{1} << 20;  // of trace_now.json
constexpr double kGoneUs = 3e6;
constexpr std::size_t kMostRecent = 2000;  // spans of a process, for trace_now.json

// Not synced: nothing is lost with it, and a disk may take long for that.
void replace_file(const base::fs::path& path, std::string_view text) {
  const base::fs::path partial = path.parent_path() / (".partial." + path.filename().string());
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) base::run_error("cannot write {}", path.string());
  base::fs::rename(partial, path);
}

}  // namespace

TraceWriter::TraceWriter(const base::fs::path& folder, bool goes_on, TraceLimits limits)
    : now_path_(folder / "trace_now.json"),
      file_(folder / "trace.json", goes_on, limits),
      origin_ns_(base::now_ns()),
      newest_us_(file_.earlier_end_us()),
      trimmed_ns_(origin_ns_),
      now_written_ns_(origin_ns_) {
  name_once(process_event(kHelm, "helm"));
  name_once(lane_event(kHelm, kMeetings, "meetings"));
}

// Other processes may have begun a little earlier; times must not be negative.
double TraceWriter::us(std::int64_t helm_ns) const {
  return file_.earlier_end_us() + 1e-3 * static_cast<double>(std::max<std::int64_t>(helm_ns - origin_ns_, 0));
}

void TraceWriter::name_once(const std::string& event) {
  if (names_.insert(event).second) file_.add(event, 0, true);
}

// The error bound and how the clock runs, as a mark in the helm's lane: for each process once in a
// while, and whenever the bound has grown.
void TraceWriter::note_clock(const SpanChunk& chunk) {
  if (chunk.clock.bound_ns == 0) return;  // the helm's own process
  const std::int64_t now_ns = base::now_ns();
  auto& [noted_ns, noted_bound_ns] = clock_noted_.try_emplace(chunk.process, now_ns - kClockEveryNs, 0).first->second;
  if (now_ns - noted_ns < kClockEveryNs && chunk.clock.bound_ns <= noted_bound_ns) return;
  noted_ns = now_ns;
  noted_bound_ns = chunk.clock.bound_ns;
  name_once(lane_event(kHelm, kClocks, "clocks"));
  const std::string bound =
      chunk.clock.bound_ns < 0 ? "null" : fmt::format("{:.3f}", 1e-3 * static_cast<double>(chunk.clock.bound_ns));
  file_.add(
      mark_event("clock", kHelm, kClocks, us(now_ns),
                 fmt::format(R"({{"process":{},"ahead_us":{:.3f},"drift_ppm":{:.3f},"bound_us":{}}})", chunk.process,
                             1e-3 * static_cast<double>(chunk.clock.ahead_ns), 1e6 * chunk.clock.drift, bound)),
      us(now_ns), true);
}

void TraceWriter::add(const SpanChunk& chunk) {
  note_clock(chunk);
  name_once(process_event(chunk.process, chunk.name));
  for (const auto& [lane, name] : chunk.lanes) name_once(lane_event(chunk.process, lane, chunk.texts[name]));
  for (const auto& [lane, keeps, span] : chunk.spans) {
    const PlacedSpan placed{span,
                            chunk.process,
                            lane,
                            us(chunk.clock.common_ns(span.start_ns)),
                            us(chunk.clock.common_ns(span.end_ns)),
                            chunk.texts[span.detail]};
    text_.clear();
    append_span(text_, placed);
    file_.add(text_, placed.end_us, keeps != 0);
    newest_us_ = std::max(newest_us_, placed.end_us);
    recent_.push_back({text_, placed.start_us, placed.end_us, chunk.process, span.step, span.kind == SpanKind::step});
  }
  while (recent_.size() > kMostRecent * (left_out_.size() + 1)) recent_.pop_front();
  left_out_[chunk.process] = chunk.left_out;
  std::uint64_t left_out = 0;
  for (const auto& [process, spans] : left_out_) left_out += spans;
  file_.count_left_out(left_out);
}

void TraceWriter::add_meeting(std::string_view name, std::int64_t step, std::int64_t start_ns, std::int64_t end_ns) {
  file_.add(
      fmt::format(
          R"({{"name":"{}","cat":"meeting","ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"step":{}}}}})",
          name, kHelm, kMeetings, us(start_ns), 1e-3 * static_cast<double>(end_ns - start_ns), step),
      us(end_ns), true);
}

void TraceWriter::add_mark(std::string_view name, std::int64_t at_ns, std::string_view arguments) {
  file_.add(mark_event(name, kHelm, kMeetings, us(at_ns), arguments), us(at_ns), true);
}

void TraceWriter::write() {
  const std::int64_t now_ns = base::now_ns();
  if (now_ns - trimmed_ns_ >= kTrimEveryNs && file_.holds_recent()) {
    trimmed_ns_ = now_ns;
    file_.trim(newest_us_);
  } else {
    file_.write();
  }
  if (now_ns - now_written_ns_ >= kNowEveryNs) write_now(now_ns);
}

void TraceWriter::finish() {
  file_.trim(newest_us_);
  write_now(base::now_ns());
}

// The newest step that every process with steps has; where there is none (asynchronous workers), the newest step of
// each. All spans that overlap with it are written.
void TraceWriter::write_now(std::int64_t now_ns) {
  now_written_ns_ = now_ns;
  std::map<int, std::set<std::int64_t>> steps;  // of each process
  double longest_us = 0;
  for (const Recent& one : recent_)
    if (one.is_step) longest_us = std::max(longest_us, one.end_us - one.start_us);
  // A process that has made no step for so long is gone.
  for (const Recent& one : recent_)
    if (one.is_step && one.end_us >= newest_us_ - kGoneUs - 3 * longest_us) steps[one.process].insert(one.step);
  if (steps.empty()) return;
  std::int64_t common = 0;
  for (const std::int64_t step : steps.begin()->second)
    if (std::ranges::all_of(steps, [&](const auto& of) { return of.second.contains(step); })) common = step;
  double begin_us = std::numeric_limits<double>::infinity(), end_us = 0;
  for (const Recent& one : recent_) {
    if (!one.is_step || !steps.contains(one.process)) continue;
    if (one.step != (common > 0 ? common : *steps[one.process].rbegin())) continue;
    begin_us = std::min(begin_us, one.start_us);
    end_us = std::max(end_us, one.end_us);
  }
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  std::string separator;
  for (const std::string& name : names_) {
    text += std::exchange(separator, ",\n");
    text += name;
  }
  for (const Recent& one : recent_) {
    if (one.end_us < begin_us || one.start_us > end_us || text.size() + one.event.size() + 200 > kNowBytes) continue;
    text += std::exchange(separator, ",\n");
    text += one.event;
  }
  text += fmt::format("\n],\"otherData\":{{\"step\":{},\"begin_us\":{:.3f},\"end_us\":{:.3f}}}}}\n",
                      common > 0 ? fmt::format("{}", common) : "null", begin_us, end_us);
  replace_file(now_path_, text);
}

}  // namespace trireme::observe
