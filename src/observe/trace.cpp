#include "observe/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/system/clock.h"
#include "observe/json_text.h"

namespace trireme::observe {
namespace {

// Assigns indices to the names of a pack, so that each is stored once.
class NameTable {
 public:
  explicit NameTable(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t operator()(std::string_view name) {
    const auto [found, is_new] = indices_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t, std::less<>> indices_;
};

// Appends the events of a chrome trace to a text. Chrome's times are microseconds since an origin.
class EventText {
 public:
  EventText(std::string& text, const EarlierTrace& earlier, std::int64_t origin_ns)
      : text_(text), earlier_(earlier), origin_ns_(origin_ns), is_first_(earlier.events.empty()) {
    text_ += earlier.events;
  }

  void process(int rank, std::string_view name) {
    name_once(
        fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":{}}}}})", rank, json_text(name)));
  }
  void lane(int rank, int lane, std::string_view name) {
    name_once(fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", rank, lane,
                          json_text(name)));
  }
  void span(int rank, int lane, std::string_view name, std::int64_t start_ns, std::int64_t end_ns) {
    begin();
    text_ += fmt::format(R"({{"name":{},"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f}}})", json_text(name), rank,
                         lane, earlier_.end_us + 1e-3 * static_cast<double>(start_ns - origin_ns_),
                         1e-3 * static_cast<double>(end_ns - start_ns));
  }

 private:
  void name_once(const std::string& event) {
    if (earlier_.names.contains(event)) return;
    begin();
    text_ += event;
  }
  void begin() {
    if (!is_first_) text_ += ",\n";
    is_first_ = false;
  }

  std::string& text_;
  const EarlierTrace& earlier_;
  std::int64_t origin_ns_;
  bool is_first_;
};

}  // namespace

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

void Trace::name_rank(int rank, const std::string& name) {
  const std::lock_guard lock(mutex_);
  own_.rank = rank;
  own_.name = name;
}

std::string Trace::pack() const {
  PackedTrace packed;
  {
    const std::lock_guard lock(mutex_);
    NameTable index_of(packed.names);
    for (const auto& [lane, name] : lanes_) packed.lanes.emplace_back(lane, index_of(name));
    packed.spans.reserve(spans_.size());
    for (const Span& span : spans_)
      packed.spans.push_back({index_of(span.name), span.lane, span.start_ns, span.end_ns});
    packed.left_out = left_out_;
  }
  return observe::pack(packed);
}

void Trace::add_rank(int rank, const std::string& name, std::string_view packed, std::int64_t clock_ahead_ns) {
  Rank other{rank, name, unpack(packed)};
  for (PackedTrace::Span& span : other.trace.spans) {
    span.start_ns -= clock_ahead_ns;
    span.end_ns -= clock_ahead_ns;
  }
  const std::lock_guard lock(mutex_);
  others_.push_back(std::move(other));
}

void Trace::write(const base::fs::path& path) {
  const std::lock_guard lock(mutex_);
  // Other ranks may have started earlier; times in the file must not be negative.
  std::int64_t origin_ns = origin_ns_;
  if (!earlier_) earlier_ = goes_on_ ? read_earlier_trace(path) : EarlierTrace{};
  std::uint64_t left_out = left_out_ + earlier_->left_out;
  for (const Rank& other : others_) {
    for (const PackedTrace::Span& span : other.trace.spans) origin_ns = std::min(origin_ns, span.start_ns);
    left_out += other.trace.left_out;
  }
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  EventText events(text, *earlier_, origin_ns);
  events.process(own_.rank, own_.name);
  for (const auto& [lane, name] : lanes_) events.lane(own_.rank, lane, name);
  for (const Span& span : spans_) events.span(own_.rank, span.lane, span.name, span.start_ns, span.end_ns);
  for (const auto& [rank, name, trace] : others_) {
    events.process(rank, name);
    for (const auto& [lane, of_lane] : trace.lanes) events.lane(rank, lane, trace.names[of_lane]);
    for (const PackedTrace::Span& span : trace.spans)
      events.span(rank, span.lane, trace.names[span.name], span.start_ns, span.end_ns);
  }
  text += fmt::format("\n],\"otherData\":{{\"spans_left_out\":{}}}}}\n", left_out);
  base::write_text_atomically(path, text);
}

}  // namespace trireme::observe
