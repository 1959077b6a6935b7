// Messenger: tells the arbiter of a group how processes ended, from a thread of its own, since that takes a connection
// and the launcher must not wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "comm/join.h"

namespace trireme::cluster {

class Messenger {
 public:
  explicit Messenger(comm::JoinOptions options) : options_(std::move(options)) {}
  ~Messenger();  // what was not told yet is dropped
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  void tell(int process, std::string how);

 private:
  struct Message {
    int process;
    std::string how;
  };
  void run();
  bool deliver(const Message& message);

  comm::JoinOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> messages_;
  bool stops_ = false;
  std::thread thread_;  // from the first message on
};

}  // namespace trireme::cluster
