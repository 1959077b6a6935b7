// LinkWaiter: waits for link activity: spins at most 50 us, and only while there are idle cores, then polls.
// One caller at a time; wake() from any thread.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/function_ref.h"
#include "comm/transport/link/failure_state.h"
#include "comm/transport/link_set/spin.h"
#include "comm/transport/shared_memory/wakeup.h"

namespace trireme::comm {

class LinkWaiter {
 public:
  LinkWaiter(Wakeup wakeup, std::shared_ptr<FailureState> alarm);
  ~LinkWaiter();
  LinkWaiter(const LinkWaiter&) = delete;
  LinkWaiter& operator=(const LinkWaiter&) = delete;

  // Something moved: restarts the time without progress.
  void moved() { still_since_ns_ = 0; }
  // Nothing moved: whether to spin once more (it pauses briefly); otherwise the caller should sleep.
  bool should_look_again();
  double still_seconds() const;

  // The sockets to wait for; the caller fills it before each sleep.
  std::vector<pollfd>& polls() { return polls_; }
  // Sleeps at most `seconds`; not at all if `could_move` finds that something arrived through memory.
  void sleep(double seconds, base::FunctionRef<bool()> could_move);
  // sleep() in steps, for callers who check under a lock and sleep without it: begin_sleep(), check, poll_links(),
  // end_sleep().
  void begin_sleep() { wakeup_.begin_sleep(); }
  void poll_links(double seconds);
  void end_sleep() { wakeup_.end_sleep(); }
  // Thread-safe: wakes the sleeping thread, because what it waits for has changed.
  void wake() { wakeup_.notify(); }

 private:
  Wakeup wakeup_;
  std::shared_ptr<FailureState> alarm_;
  SpinPermit spin_;
  std::int64_t still_since_ns_ = 0;  // when progress stopped; 0: it has not
  bool may_spin_ = false;
  std::vector<pollfd> polls_;
};

}  // namespace trireme::comm
