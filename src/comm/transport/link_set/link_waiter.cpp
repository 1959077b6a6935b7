#include "comm/transport/link_set/link_waiter.h"

#include <immintrin.h>

#include <cmath>

#include "base/system/clock.h"

namespace trireme::comm {
namespace {
constexpr std::int64_t kSpinNs = 50'000;
}

LinkWaiter::LinkWaiter(Wakeup wakeup, std::shared_ptr<FailureState> alarm) : wakeup_(wakeup), alarm_(std::move(alarm)) {
  alarm_->add_eventfd(wakeup_.descriptor());
}

LinkWaiter::~LinkWaiter() { alarm_->remove_eventfd(wakeup_.descriptor()); }

bool LinkWaiter::should_look_again() {
  const std::int64_t now = base::now_ns();
  if (still_since_ns_ == 0) {
    still_since_ns_ = now;
    may_spin_ = spin_.may_spin();
  }
  if (!may_spin_ || now - still_since_ns_ >= kSpinNs) return false;
  for (int i = 0; i < 16; ++i) _mm_pause();
  return true;
}

double LinkWaiter::still_seconds() const { return still_since_ns_ == 0 ? 0 : base::seconds_since(still_since_ns_); }

void LinkWaiter::sleep(double seconds, base::FunctionRef<bool()> could_move) {
  begin_sleep();
  if (!could_move()) poll_links(seconds);
  end_sleep();
}

void LinkWaiter::poll_links(double seconds) {
  polls_.push_back({wakeup_.descriptor(), POLLIN, 0});
  poll(polls_.data(), polls_.size(), static_cast<int>(std::ceil(seconds * 1e3)));
}

}  // namespace trireme::comm
