// LivenessProbe: asks whether the first process of a job, which holds its group together, still answers. From a thread
// of its own, since a process that is stopped, or whose host hangs, lets others wait.
#pragma once

#include <atomic>
#include <thread>

#include "comm/membership/join.h"

namespace trireme::cluster {

class LivenessProbe {
 public:
  explicit LivenessProbe(const comm::JoinOptions& options);
  ~LivenessProbe();  // gives up
  LivenessProbe(const LivenessProbe&) = delete;
  LivenessProbe& operator=(const LivenessProbe&) = delete;

  // It has answered, or not for some seconds.
  bool is_done() const { return state_ != State::asking; }
  bool has_answered() const { return state_ == State::answered; }

 private:
  enum class State { asking, answered, silent };

  std::atomic<State> state_{State::asking};
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

}  // namespace trireme::cluster
