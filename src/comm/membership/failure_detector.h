// FailureDetector: where ranks meet, and who judges when one fails. It runs in a thread of rank 0's process. Ranks come
// in any order; when all are there, each gets the list of all. From then on every rank's connection and heartbeat tell
// that it lives; the first failure becomes one verdict, with its evidence, that all survivors hear. When all survivors
// want to go on together they get new ranks, in the order of the old ones, and a new list.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/membership/member.h"
#include "comm/transport/tcp/frame.h"
#include "comm/transport/tcp/listener.h"

namespace trireme::comm {

// In seconds.
struct FailureTimeouts {
  double silent_seconds = 10;  // how long a rank may be silent; beats come five times as often
  double ending_seconds = 0;   // how long a closed connection waits for a launcher's word of how the process ended
};

class FailureDetector {
 public:
  FailureDetector(Socket listener, Secrecy secrecy, int world, std::string program, FailureTimeouts patience);
  // In the place of one that is gone, for ranks of a group of `world`: `awaited` of them, or those who have come after
  // so many seconds.
  FailureDetector(Socket listener, Secrecy secrecy, int world, std::string program, FailureTimeouts patience,
                  int awaited, double settle_seconds);
  ~FailureDetector();  // says farewell to whoever is still there
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
    bool was_forged = false;  // a message of its, which is told once

    bool is_here() const { return socket.is_open() && !has_left && !is_lost; }
  };
  // Somebody saw a rank fail; others may know better, so the verdict waits a moment.
  struct Report {
    int about = 0;
    std::string evidence;
    std::int64_t due_ns = 0;
  };

  void run();
  int wait_ms(std::int64_t now_ns) const;
  void admit(Guest guest);
  void open_if_wanted();  // when all that are here want to begin
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
  FailureTimeouts patience_;
  std::int64_t settled_ns_;  // who has not come until then is not waited for
  int generation_ = 0;
  Listener listener_;
  Socket stop_event_;
  std::map<int, WatchedRank> watched_;
  bool is_open_ = false, has_judged_ = false;
  std::string disagreement_;  // between ranks, so no group comes together here
  std::string failure_;       // of a rank before that; nor then
  std::optional<Report> report_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trireme::comm
