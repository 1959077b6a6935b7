// FailureDetector: runs the rendezvous, then watches the heartbeats of all ranks and decides who failed.
// Runs in a thread of rank 0, or of the rank that replaces it.
// Ranks arrive in any order; when all are there, each gets the list of members. From then on it watches each rank's
// connection and heartbeats. The first failure becomes the verdict, with its evidence, and is sent to all survivors.
// When all survivors ask to continue, they get new ranks, in the order of their old ones, and a new list.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/mailbox/clock_fit.h"
#include "comm/membership/member.h"
#include "comm/transport/tcp/frame.h"
#include "comm/transport/tcp/listener.h"

namespace trireme::comm {

// In seconds.
struct FailureTimeouts {
  double silent_seconds = 10;  // how long a rank may be silent; it sends five heartbeats in that time
  double ending_seconds = 0;   // after a connection closes: how long to wait for a launcher's report_exit()
};

class FailureDetector {
 public:
  // `clock`: tells other ranks the time; none: base::now_ns.
  FailureDetector(Socket listener, Secrecy secrecy, int world, std::string program, FailureTimeouts timeouts,
                  Clock clock = {});
  // Replaces a failure detector that is gone, for ranks of a group of `world`: waits for `awaited` of them, or takes
  // those that have arrived after `settle_seconds`.
  FailureDetector(Socket listener, Secrecy secrecy, int world, std::string program, FailureTimeouts timeouts,
                  Clock clock, int awaited, double settle_seconds);
  ~FailureDetector();  // sends a farewell to the ranks that are still connected
  FailureDetector(const FailureDetector&) = delete;
  FailureDetector& operator=(const FailureDetector&) = delete;

  int port() const { return port_of(listener_.listener()); }

 private:
  struct WatchedRank {
    Member member;
    Socket socket;
    FrameReader frames;
    std::int64_t heard_ns = 0;
    bool has_left = false, is_lost = false, wants_to_begin = false;
    bool has_warned_of_forgery = false;  // a forged message was reported to the user; that is done once

    bool is_here() const { return socket.is_open() && !has_left && !is_lost; }
  };
  // A rank's report that it lost a peer. The verdict waits a moment, because better evidence may follow.
  struct Report {
    int about = 0;
    std::string evidence;
    std::int64_t due_ns = 0;
  };

  void run();
  int wait_ms(std::int64_t now_ns) const;
  void admit(Guest guest);
  void open_if_wanted();  // when all connected ranks want to begin
  void open();
  void listen_to(WatchedRank& watched);
  void take(WatchedRank& watched, const std::string& frame);
  void judge();
  void handle_exit(const ProcessExit& ending);
  void lose(int rank, const std::string& evidence);
  void send_to(WatchedRank& watched, const std::string& frame);
  void send_to_all(const std::string& frame);

  std::string program_;
  int world_, awaited_;
  FailureTimeouts timeouts_;
  Clock clock_;
  std::int64_t settle_deadline_ns_;  // ranks that have not arrived by then are not waited for
  int generation_ = 0;
  Listener listener_;
  Socket stop_event_;
  std::map<int, WatchedRank> watched_;
  bool is_open_ = false, has_judged_ = false;
  std::string disagreement_;   // settings of ranks differ, so this group cannot form
  std::string early_failure_;  // a rank failed before the group was complete, so it cannot form
  std::optional<Report> report_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trireme::comm
