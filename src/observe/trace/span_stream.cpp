#include "observe/trace/span_stream.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/cpu/cores.h"
#include "base/cpu/thread_name.h"
#include "base/system/clock.h"

namespace trireme::observe {
namespace {

constexpr std::int64_t kFirstSteps = 100, kEverySteps = 1000;
constexpr std::int64_t kCountNs = 1'000'000'000;  // how long spans are counted before the stride is chosen again
constexpr double kCoveredSeconds = 0.25;          // by a clock's bound
constexpr std::size_t kSentSpanBytes = 76, kFrontBytes = 256;

// The clock's bound holds for what has just happened. Of long spans the start was some time ago, and how fast the error
// changes is known no better than by the bound at exchanges a second apart.
void widen_bound(SpanChunk& chunk, std::int64_t now_ns) {
  if (chunk.clock.bound_ns <= 0) return;
  std::int64_t oldest_ns = now_ns;
  for (const SpanChunk::Entry& entry : chunk.spans) oldest_ns = std::min(oldest_ns, entry.span.start_ns);
  const double seconds = std::max(0.0, 1e-9 * static_cast<double>(now_ns - oldest_ns) - kCoveredSeconds);
  chunk.clock.bound_ns += static_cast<std::int64_t>(2 * seconds * static_cast<double>(chunk.clock.bound_ns));
}

}  // namespace

SpanStream::SpanStream(SpanRecorder& recorder, SpanStreamOptions options, std::function<base::ClockModel()> clock,
                       Deliver deliver)
    : recorder_(recorder),
      options_(std::move(options)),
      clock_(std::move(clock)),
      deliver_(std::move(deliver)),
      counting_since_ns_(base::now_ns()) {
  if (options_.mode != TraceMode::none) thread_ = std::thread([this] { run(); });
}

SpanStream::~SpanStream() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void SpanStream::run() {
  base::name_this_thread("spans");
  if (!options_.cpus.empty()) base::unpin_this_thread(options_.cpus);
  std::unique_lock lock(mutex_);
  for (bool goes_on = true; goes_on;) {
    wake_.wait_for(lock, std::chrono::duration<double>(options_.period_seconds), [&] { return stops_; });
    goes_on = !stops_;
    pass_on(false);
  }
}

void SpanStream::flush() {
  const std::lock_guard lock(mutex_);
  if (options_.mode != TraceMode::none) pass_on(true);
}

bool SpanStream::stays(std::int64_t step) {
  if (options_.mode == TraceMode::all || step == 0) return true;
  if (first_step_ == 0) first_step_ = step;
  return step < first_step_ + kFirstSteps || step % kEverySteps == 0;
}

void SpanStream::choose_stride(std::size_t spans, std::int64_t now_ns) {
  counted_ += spans;
  if (now_ns - counting_since_ns_ < kCountNs) return;
  const double per_second = 1e9 * static_cast<double>(counted_) / static_cast<double>(now_ns - counting_since_ns_);
  stride_ = 1;
  while (per_second > options_.recent_spans_per_second * static_cast<double>(stride_)) stride_ *= 2;
  counting_since_ns_ = now_ns;
  counted_ = 0;
}

void SpanStream::pass_on(bool everything) try {
  if (has_failed_) return;
  const std::int64_t now_ns = base::now_ns();
  const std::int64_t oldest_ns = now_ns - static_cast<std::int64_t>(1e9 * options_.recent_seconds);
  std::size_t fetched = 0;
  std::uint64_t left_out = 0;
  for (SpanLane* lane : recorder_.lanes()) {
    spans_.clear();
    lane->fetch(spans_);
    fetched += spans_.size();
    left_out += lane->left_out();
    if (!spans_.empty()) lane_names_.try_emplace(lane->number(), lane->name());
    for (const Span& span : spans_) {
      const Fetched one{span, lane->number()};
      if (stays(span.step))
        send(one, true);
      else if (span.step % stride_ == 0)
        send(one, false);
      else
        kept_back_.push_back(one);
    }
  }
  chunk_.left_out = left_out;
  choose_stride(fetched, now_ns);
  // Lanes are fetched one after the other, so the order is only roughly that of time; this is enough here.
  while (!kept_back_.empty() &&
         (kept_back_.size() > options_.most_recent || kept_back_.front().span.end_ns < oldest_ns))
    kept_back_.pop_front();
  if (everything) {
    for (const Fetched& one : kept_back_)
      if (one.span.end_ns >= oldest_ns) send(one, false);
    kept_back_.clear();
  }
  send_chunk();
} catch (const std::exception&) {  // the helm is gone, the group is broken, or there is no memory
  has_failed_ = true;
}

void SpanStream::send(const Fetched& fetched, bool stays) {
  if (chunk_bytes_ + kSentSpanBytes > kMostBytes) send_chunk();
  SpanChunk::Entry entry{fetched.lane, static_cast<std::uint16_t>(stays ? 1 : 0), fetched.span};
  const auto index_of = [&](const std::string& text) {
    chunk_.texts.push_back(text);
    chunk_bytes_ += text.size() + 4;
    return static_cast<std::uint32_t>(chunk_.texts.size() - 1);
  };
  if (std::ranges::none_of(chunk_.lanes, [&](const auto& lane) { return lane.first == fetched.lane; })) {
    chunk_.lanes.emplace_back(fetched.lane, index_of(lane_names_.at(fetched.lane)));
    chunk_bytes_ += 8;
  }
  if (entry.span.detail != 0) {
    const auto [found, is_new] = text_of_.try_emplace(entry.span.detail, 0);
    if (is_new) found->second = index_of(recorder_.text_of(entry.span.detail).substr(0, 200));
    entry.span.detail = found->second;
  }
  chunk_.spans.push_back(entry);
  chunk_bytes_ += kSentSpanBytes;
}

void SpanStream::send_chunk() {
  if (!chunk_.spans.empty()) {
    chunk_.process = options_.process;
    chunk_.name = options_.name;
    chunk_.clock = clock_();
    widen_bound(chunk_, base::now_ns());
    deliver_(pack(chunk_));
  }
  chunk_.spans.clear();
  chunk_.lanes.clear();
  chunk_.texts.assign(1, "");
  text_of_.clear();
  chunk_bytes_ = kFrontBytes + options_.name.size();
}

}  // namespace trireme::observe
