// LivenessProbe: checks whether rank 0 of a job, which holds the rendezvous, still answers.
// One caller at a time; connects from a thread of its own, because a stopped process or a hung host answers nothing and
// the launcher must not wait for it.
#pragma once

#include <atomic>
#include <thread>

#include "comm/membership/join.h"

namespace trireme::cluster {

class LivenessProbe {
 public:
  explicit LivenessProbe(const comm::JoinOptions& options);
  ~LivenessProbe();  // stops asking
  LivenessProbe(const LivenessProbe&) = delete;
  LivenessProbe& operator=(const LivenessProbe&) = delete;

  // Rank 0 has answered, or 5 s have passed without an answer.
  bool is_done() const { return state_ != State::asking; }
  bool has_answered() const { return state_ == State::answered; }

 private:
  enum class State { asking, answered, silent };

  std::atomic<State> state_{State::asking};
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

}  // namespace trireme::cluster
