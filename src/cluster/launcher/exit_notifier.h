// ExitNotifier: reports to the failure detector of a group how processes ended.
// One caller at a time. Sends from a thread of its own, because each report needs a connection and the launcher must
// not wait for it.
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
  ~ExitNotifier();  // drops the reports that are not sent yet
  ExitNotifier(const ExitNotifier&) = delete;
  ExitNotifier& operator=(const ExitNotifier&) = delete;

  // `process` is a process id, `how` a text such as "was killed by signal 9". Returns at once.
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
  std::thread thread_;  // started with the first message
};

}  // namespace trireme::cluster
