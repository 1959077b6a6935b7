// ExitNotifier: tells the arbiter of a group how processes ended, from a thread of its own, since that takes a
// connection and the launcher must not wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "comm/membership/join.h"

namespace trireme::cluster {

class ExitNotifier {
 public:
  explicit ExitNotifier(comm::JoinOptions options) : options_(std::move(options)) {}
  ~ExitNotifier();  // what was not told yet is dropped
  ExitNotifier(const ExitNotifier&) = delete;
  ExitNotifier& operator=(const ExitNotifier&) = delete;

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
