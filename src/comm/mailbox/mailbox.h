// Mailbox: tagged messages from one rank to another, for servers and pipelines.
// Thread-safe; one of the waiting threads watches the links for all.
//
// Messages from one sender with one tag arrive in the order in which they were sent. Messages up to 16 KiB are sent
// at once, and the receiver buffers up to 1 MiB of them per sender until receive() is called (credit). Longer messages,
// and those beyond the credit, are offered first and sent when a receive() matches, straight into its memory. So a
// sender gets ahead of a slow receiver by at most the credit, and a message never blocks one with another tag.
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

  int rank() const { return set_.rank; }  // in the group, whatever subgroup its collectives use
  int world() const { return static_cast<int>(lines_.size()); }

  // How long a message may take without progress.
  void set_deadline(double seconds) {
    const std::lock_guard lock(mutex_);
    set_.deadline_seconds = seconds;
  }

  // Returns when `bytes` may be reused.
  void send(int to, Tag tag, std::span<const std::byte> bytes);
  // The next message with that tag from rank `from`, or from any rank (kAnyRank). A message longer than `into` is an
  // error and stays in the mailbox.
  Received receive(int from, Tag tag, std::span<std::byte> into);
  // Nothing if no message has begun to arrive within `seconds`.
  std::optional<Received> receive_within(double seconds, int from, Tag tag, std::span<std::byte> into);

 private:
  static constexpr std::size_t kShort = std::size_t{16} << 10;  // longest message that is sent at once

  // message: a short message. offer, go, content: announcement of a long message, request for it, a piece of it.
  // credit: buffer space that the receiver has freed.
  enum class Kind : std::uint32_t { message, offer, go, content, credit };
  struct Head {
    Kind kind = Kind::message;
    Tag tag = 0;
    std::uint64_t id = 0;     // of the offer, in offer, go and content
    std::uint64_t bytes = 0;  // of the content; of an offer: of the offered message; of credit: freed bytes
  };
  // A pending call of receive().
  struct Want {
    int from = 0;
    Tag tag = 0;
    std::span<std::byte> into;
    std::int64_t moved_ns = 0;
    bool matched = false, done = false;
    std::size_t received_bytes = 0;
    Received got{};
    std::string error{};
  };
  // A message that waits at its sender until the receiver requests it.
  struct Offer {
    int to = 0;
    std::span<const std::byte> bytes;
    std::int64_t moved_ns = 0;
    std::size_t pieces = 1;  // still to be sent
  };
  // A received message, or an offer, that no receive() has matched yet.
  struct Letter {
    int from = 0;
    Head head;
    std::vector<std::byte> content{};
    bool complete = false;
    Want* want = nullptr;  // gets the content when it is complete
  };
  struct Outgoing {
    Head head;
    std::span<const std::byte> content{};
    std::size_t sent = 0;
    Offer* offer = nullptr;   // the offer that this is a piece of
    bool* is_sent = nullptr;  // set when all is sent
    std::int64_t* moved_ns = nullptr;
  };
  // The link to one peer.
  struct Line {
    Link* link = nullptr;
    std::deque<Outgoing> out;
    std::size_t credit = 0;       // bytes of short messages that the peer will still buffer
    std::size_t owed_credit = 0;  // credit to give back to the peer
    Head head;                    // of the message being received
    std::size_t header = 0, done = 0;
    std::span<std::byte> into;        // destination of its content
    Want* want = nullptr;             // destination: a pending receive(),
    Letter* letter = nullptr;         // or a buffered message
    bool is_watched_to_send = false;  // the watcher polls until the link takes bytes
    std::string gone;                 // why the link ended; empty while it works
  };
  // A waiting thread.
  struct Waiter {
    base::FunctionRef<bool()> is_done;
    std::condition_variable woken{};
  };
  using Lock = std::unique_lock<std::mutex>;

  Line& line(int rank) { return lines_[static_cast<std::size_t>(rank)]; }
  bool is_own(int rank) const { return rank == set_.rank; }

  // Waits for is_done(). Returns false if nothing moved for `seconds` since `moved_ns`. `what` and `peer` are for the
  // error.
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
  bool take_letter(Want& want);  // whether a buffered message or offer matched
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
  std::mutex mutex_;                      // guards the members below
  const Waiter* watcher_ = nullptr;       // the thread that watches the links
  std::list<Waiter*> sleepers_;           // threads that leave that to the watcher
  std::uint64_t seen_failure_count_ = 0;  // FailureState::count() at the last wake_all()
  std::string failure_;                   // once set, every operation fails with it
  std::vector<Line> lines_;
  std::list<Want*> wants_;     // not matched yet
  std::list<Letter> letters_;  // in order of arrival
  std::map<std::uint64_t, Offer*> offers_;
  // Receives that wait for requested content, by sender and id of the offer.
  std::map<std::pair<int, std::uint64_t>, Want*> requested_;
  std::uint64_t next_id_ = 0;
  std::vector<std::byte> short_;
};

}  // namespace trireme::comm
