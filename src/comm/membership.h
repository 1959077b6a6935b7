// Membership: a rank's place in a group, from meeting the others to leaving them. A thread of its own sends heartbeats
// to the arbiter and raises the group's alarm at its verdict, or when the arbiter itself is gone; between beats it
// sleeps.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "comm/alarm.h"
#include "comm/door.h"
#include "comm/join.h"
#include "comm/member.h"

namespace trireme::comm {

class Membership {
 public:
  // Meets the others; returns when all are there.
  Membership(const JoinOptions& options, const Door& door, const std::string& local_name);
  ~Membership();  // leaves
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  const std::vector<Member>& members() const { return members_; }
  const std::shared_ptr<Alarm>& alarm() const { return alarm_; }

 private:
  void meet(const JoinOptions& options, const Door& door, const std::string& local_name);
  void run();
  bool take(const std::string& frame);  // false: the arbiter said farewell
  void send(const std::string& frame);

  int rank_;
  Patience patience_;
  Socket arbiter_;
  FrameReader frames_;
  std::vector<Member> members_;
  std::shared_ptr<Alarm> alarm_;
  Socket stop_bell_;
  std::mutex send_mutex_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trireme::comm
