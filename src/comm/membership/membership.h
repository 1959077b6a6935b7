// Membership: a rank's place in a group, from meeting the others to leaving them. A thread of its own sends heartbeats
// to the arbiter and raises the group's alarm at its verdict, or when the arbiter itself is gone; between beats it
// sleeps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/membership/join.h"
#include "comm/membership/member.h"
#include "comm/transport/link/failure_state.h"
#include "comm/transport/tcp/frame.h"

namespace trireme::comm {

// A group as the arbiter tells it to one of its ranks.
struct MembershipView {
  int rank = 0, generation = 0;
  double silent_seconds = 10;  // how long a rank may be silent
  std::vector<Member> members;
  std::shared_ptr<FailureState> alarm;
};

class Membership {
 public:
  // Connects to the arbiter of options.address. `self` is this process without its address, which routing gives.
  Membership(const JoinOptions& options, Member self, int listener_port, std::int64_t deadline_ns);
  ~Membership();  // leaves
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Meets the others; returns when all are there.
  MembershipView meet(std::int64_t deadline_ns);
  // Meets those again who are left after a verdict; nothing when the arbiter is gone.
  std::optional<MembershipView> meet_again(std::int64_t deadline_ns);

 private:
  void run();
  bool take(const std::string& frame);  // false: nothing more will come
  void send(const std::string& frame);
  void raise(const std::string& sentence);

  JoinOptions options_;
  Socket arbiter_;
  FrameReader frames_;
  bool was_forged_ = false;  // a message of the arbiter's, which is told once
  Socket stop_event_;
  std::mutex send_mutex_, mutex_;
  std::condition_variable changed_;
  std::optional<MembershipView> view_;  // guarded by mutex_, as the rest up to the thread
  bool is_fresh_ = false;               // it has not been given out
  std::vector<int> missing_;            // who has not come yet
  bool is_failure_ = false;             // of another rank, and no mistake: what is told as
  std::string refusal_;
  bool is_over_ = false;  // the arbiter is gone
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trireme::comm
