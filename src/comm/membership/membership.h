// Membership: a rank's place in a group, from the rendezvous to leaving it.
// One caller at a time.
// A thread of its own sends heartbeats to the arbiter (the failure detector). It raises the group's failure state when
// the arbiter sends a verdict or is itself gone. Between heartbeats it sleeps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/mailbox/clock_fit.h"
#include "comm/membership/join.h"
#include "comm/membership/member.h"
#include "comm/transport/link/failure_state.h"
#include "comm/transport/tcp/frame.h"

namespace trireme::comm {

// A group as the arbiter describes it to one of its ranks.
struct MembershipView {
  int rank = 0, generation = 0;
  double silent_seconds = 10;  // how long a rank may be silent
  std::vector<Member> members;
  std::shared_ptr<FailureState> alarm;
};

class Membership {
 public:
  // Connects to the arbiter at options.address. `self` is this process without its address, which follows from the
  // connection.
  Membership(const JoinOptions& options, Member self, int listener_port, std::int64_t deadline_ns);
  ~Membership();  // leaves the group
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Waits until all ranks have arrived.
  MembershipView meet(std::int64_t deadline_ns);
  // Waits until all survivors of a verdict have asked to continue; nothing if the arbiter is gone.
  std::optional<MembershipView> meet_again(std::int64_t deadline_ns);
  // This rank's clock against the arbiter's. Thread-safe.
  base::ClockModel clock() const;

 private:
  void run();
  void ask_time();
  bool take(const std::string& frame);  // false: no further messages will come
  void send(const std::string& frame);
  void raise(const std::string& sentence);

  JoinOptions options_;
  Socket arbiter_;
  FrameReader frames_;
  bool has_warned_of_forgery_ = false;  // a forged message was reported to the user; that is done once
  Socket stop_event_;
  std::mutex send_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<MembershipView> view_;   // guarded by mutex_, like the members down to is_arbiter_gone_
  bool has_new_view_ = false;            // view_ has not been returned yet
  std::vector<int> missing_;             // ranks that have not arrived yet
  bool is_refused_for_failure_ = false;  // the refusal is due to a failed rank, not to a user's mistake
  std::string refusal_;
  ClockFit clock_fit_;
  int questions_left_ = 0;        // of this round of exchanges of times; used by the thread only
  bool is_arbiter_gone_ = false;  // it failed or said farewell
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trireme::comm
