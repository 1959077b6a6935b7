#include "crew/member_exchange.h"

#include "base/system/clock.h"

namespace trireme::crew {
namespace {

constexpr double kFaster = 1.2;               // the least ratio of speeds; smaller ratios may be noise
constexpr std::int64_t kLookEvery = 200'000;  // nanoseconds; reading all threads' progress takes about 1 % of that
// As 1/k of the whole step: how far a member must be behind, the same when the faster thread is idle, and how much work
// a thread must have done before its speed counts as known.
constexpr std::int64_t kBehind = 64, kBehindWhenIdle = 512, kKnown = 64;

}  // namespace

MemberExchange::MemberExchange(int threads, base::EventCount& events)
    : threads_(threads), events_(&events), boxes_(new Box[static_cast<std::size_t>(threads)]) {}

void MemberExchange::start(std::int64_t whole) {
  whole_ = whole;
  count_.store(0, std::memory_order_relaxed);
  for (int t = 0; t < threads_; ++t) {
    box(t).wanted_by.store(kNone, std::memory_order_relaxed);
    box(t).member.store(kNone, std::memory_order_relaxed);
    for (auto* value : {&box(t).left, &box(t).done, &box(t).took}) value->store(0, std::memory_order_relaxed);
    box(t).asked = kNone;
    box(t).looked_ns = 0;
  }
}

int MemberExchange::between(int thread, int member, const Progress& progress) {
  if (threads_ == 1 || whole_ == 0) return member;
  Box& own = box(thread);
  own.left.store(progress.left, std::memory_order_relaxed);
  own.done.store(progress.done, std::memory_order_relaxed);
  own.took.store(progress.took, std::memory_order_relaxed);
  if (own.asked != kNone) {
    const int got = received(thread);
    if (got != kNone) {
      put(own.asked, member);
      own.asked = kNone;
      count_.fetch_add(1, std::memory_order_relaxed);
      return got;
    }
  } else if (int other = own.wanted_by.load(std::memory_order_acquire); other != kNone && progress.left > 0) {
    if (own.wanted_by.compare_exchange_strong(other, kNone, std::memory_order_acq_rel)) {
      own.left.store(0, std::memory_order_relaxed);
      put(other, member);
      return kNone;
    }
  }
  const std::int64_t now = base::now_ns();
  if (progress.has_nothing_to_do || now - own.looked_ns >= kLookEvery) {
    own.looked_ns = now;
    ask(thread, slower_one(thread, progress));
  }
  return member;
}

int MemberExchange::received(int thread) { return box(thread).member.exchange(kNone, std::memory_order_acq_rel); }

void MemberExchange::put(int thread, int member) {
  box(thread).member.store(member, std::memory_order_release);
  events_->notify();
}

// The slower thread whose member is furthest behind this thread's, or kNone.
int MemberExchange::slower_one(int thread, const Progress& progress) {
  int found = kNone;
  std::int64_t most = whole_ / (progress.has_nothing_to_do ? kBehindWhenIdle : kBehind);
  if (progress.done < whole_ / kKnown) return kNone;
  for (int t = 0; t < threads_; ++t) {
    if (t == thread) continue;
    const std::int64_t behind = box(t).left.load(std::memory_order_relaxed) - progress.left;
    const std::int64_t done = box(t).done.load(std::memory_order_relaxed);
    const std::int64_t took = box(t).took.load(std::memory_order_relaxed);
    if (behind <= most || done < whole_ / kKnown) continue;
    const double speed = static_cast<double>(progress.done) / static_cast<double>(progress.took);
    if (speed < kFaster * static_cast<double>(done) / static_cast<double>(took)) continue;
    found = t;
    most = behind;
  }
  return found;
}

bool MemberExchange::leave(int thread) { return ask(thread, kNone); }

// Asks `slower` (kNone: nobody) for its member. A request to another thread is withdrawn first; returns false when that
// request has been granted in the meantime.
bool MemberExchange::ask(int thread, int slower) {
  Box& own = box(thread);
  if (own.asked == slower) return true;
  if (int self = thread; own.asked != kNone) {
    if (!box(own.asked).wanted_by.compare_exchange_strong(self, kNone, std::memory_order_acq_rel)) return false;
    own.asked = kNone;
  }
  int nobody = kNone;
  if (slower != kNone && box(slower).wanted_by.compare_exchange_strong(nobody, thread, std::memory_order_acq_rel))
    own.asked = slower;
  return true;
}

}  // namespace trireme::crew
