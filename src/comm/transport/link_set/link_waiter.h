// LinkWaiter: how a thread waits for links. It looks again for at most 50 us, and only while no core is wanted by
// somebody else, then sleeps until it is woken or a socket is ready. One thread at a time.
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

  // Something moved: the time counts from the next moment when nothing does.
  void moved() { still_since_ns_ = 0; }
  // Nothing moved: whether to look again at once. Else it is time to sleep.
  bool should_look_again();
  double still_seconds() const;

  // Which sockets to wait for, filled anew for each sleep.
  std::vector<pollfd>& polls() { return polls_; }
  // Sleeps for so many seconds at most; not at all when `could_move` finds that something came through memory.
  void sleep(double seconds, base::FunctionRef<bool()> could_move);
  // Its parts, for those who look with a lock and sleep without: lie down, look, doze, get up.
  void begin_sleep() { wakeup_.begin_sleep(); }
  void poll_links(double seconds);
  void end_sleep() { wakeup_.end_sleep(); }
  // From any thread: what to wait for has changed.
  void wake() { wakeup_.notify(); }

 private:
  Wakeup wakeup_;
  std::shared_ptr<FailureState> alarm_;
  SpinPermit spin_;
  std::int64_t still_since_ns_ = 0;  // 0: something moved
  bool may_spin_ = false;
  std::vector<pollfd> polls_;
};

}  // namespace trireme::comm
