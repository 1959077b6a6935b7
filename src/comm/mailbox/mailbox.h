// Mailbox: messages from one rank to another, told apart by tags. For servers and pipelines: nobody else takes part.
//
// Messages of one sender and one tag come in the order they were sent. Short ones are sent at once and kept by the
// receiver until it asks for them, up to a megabyte for each sender; longer ones, and those beyond it, wait at the
// sender until the receiver wants them, and go straight into its memory. So a sender never gets ahead of a slow
// receiver by more than that, and no message stands in the way of one with another tag. Any number of threads; whoever
// waits looks after the links for all.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "comm/transport/link_set/link_set.h"
#include "comm/transport/link_set/link_waiter.h"

namespace trireme::comm {

using Tag = std::uint32_t;
inline constexpr int kAnyRank = -1;

struct Received {
  int from = 0;
  std::size_t bytes = 0;
};

class Mailbox {
 public:
  explicit Mailbox(LinkSet set);

  int rank() const { return set_.rank; }  // of the group, whatever subgroup its collectives are in
  int world() const { return static_cast<int>(lines_.size()); }

  // Of a message of which nothing moves.
  void set_deadline(double seconds) {
    const std::lock_guard lock(mutex_);
    set_.deadline_seconds = seconds;
  }

  // Returns when `bytes` may be used again.
  void send(int to, Tag tag, std::span<const std::byte> bytes);
  // The next message from that rank, or from any, with that tag. One that is longer than `into` is an error, and stays.
  Received receive(int from, Tag tag, std::span<std::byte> into);
  // Nothing when none has begun to come within so many seconds.
  std::optional<Received> receive_within(double seconds, int from, Tag tag, std::span<std::byte> into);

 private:
  static constexpr std::size_t kShort = std::size_t{16} << 10;  // sent at once

  enum class Kind : std::uint32_t { message, offer, go, content, credit };
  struct Head {
    Kind kind = Kind::message;
    Tag tag = 0;
    std::uint64_t id = 0;     // of an offer
    std::uint64_t bytes = 0;  // of the content; of an offer, what is to come; of credit, what was used up
  };
  // A call of receive() that waits.
  struct Want {
    int from = 0;
    Tag tag = 0;
    std::span<std::byte> into;
    std::int64_t moved_ns = 0;
    bool matched = false, done = false;
    std::size_t come = 0;
    Received got{};
    std::string error{};
  };
  // A message that waits at its sender.
  struct Offer {
    int to = 0;
    std::span<const std::byte> bytes;
    std::int64_t moved_ns = 0;
    std::size_t pieces = 1;  // that are still to be sent
  };
  // A message that nobody wanted yet: its content, or an offer of it.
  struct Letter {
    int from = 0;
    Head head;
    std::vector<std::byte> content{};
    bool complete = false;
    Want* want = nullptr;  // who waits for the rest
  };
  struct Outgoing {
    Head head;
    std::span<const std::byte> content{};
    std::size_t sent = 0;
    Offer* offer = nullptr;   // that it is a part of
    bool* is_sent = nullptr;  // who waits for it
    std::int64_t* moved_ns = nullptr;
  };
  // One peer.
  struct Line {
    Link* link = nullptr;
    std::deque<Outgoing> out;
    std::size_t credit = 0;  // bytes of short messages that the peer will still keep
    std::size_t owed = 0;    // credit that the peer gets back
    Head head;               // of the message that comes
    std::size_t header = 0, done = 0;
    std::span<std::byte> into;        // where its content goes
    Want* want = nullptr;             // whose it is,
    Letter* letter = nullptr;         // or what
    bool is_watched_to_send = false;  // the watcher waits until it can be sent to
    std::string gone;                 // why there is no link any more
  };
  // A thread that waits for something.
  struct Waiter {
    base::FunctionRef<bool()> is_done;
    std::condition_variable woken{};
  };
  using Lock = std::unique_lock<std::mutex>;

  Line& line(int rank) { return lines_[static_cast<std::size_t>(rank)]; }
  bool is_own(int rank) const { return rank == set_.rank; }

  // False when `moved_ns` is so many seconds ago. `what` and `peer` are for the error.
  bool wait_until(Lock& lock, const std::string& what, int peer, const std::int64_t& moved_ns, double seconds,
                  base::FunctionRef<bool()> is_done);
  void watch(Lock& lock, const Waiter& self, double seconds);
  void sleep(Lock& lock, Waiter& self, double seconds);
  void announce();
  void wake_all();
  void check(const std::string& what, int peer);
  bool nobody_can_send(int from) const;
  bool could_move() const;

  std::optional<Received> receive_want(Want& want, double seconds, bool must_come);
  bool take_letter(Want& want);  // whether one was there
  void offer_to_wants(Letter& letter);
  void deliver(Letter& letter, Want& want);
  Want* wanted(int from, Tag tag);
  void give_credit(int to, std::size_t bytes);

  bool progress();
  bool advance_out(Line& line);
  bool advance_in(int rank, Line& line);
  void begin(int rank, Line& line);
  void end(int rank, Line& line);
  void send_offered(const Head& head);
  [[noreturn]] void fail(const std::string& sentence);

  LinkSet set_;
  LinkWaiter link_waiter_;
  std::mutex mutex_;                 // guards all below
  const Waiter* watcher_ = nullptr;  // looks after the links, or sleeps until something comes
  std::list<Waiter*> sleepers_;      // leave it to the watcher
  std::uint64_t alarms_ = 0;         // that all were told of
  std::string failure_;              // after which nothing works any more
  std::vector<Line> lines_;
  std::list<Want*> wants_;     // not matched yet
  std::list<Letter> letters_;  // in the order in which they came
  std::map<std::uint64_t, Offer*> offers_;
  std::map<std::pair<int, std::uint64_t>, Want*> coming_;  // contents that were asked for
  std::uint64_t next_id_ = 0;
  std::vector<std::byte> short_;
};

}  // namespace trireme::comm
