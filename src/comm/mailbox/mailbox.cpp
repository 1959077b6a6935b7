// Mailbox: its public functions, and how callers wait. Messages on the links: mailbox_links.cpp.
#include "comm/mailbox/mailbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/system/clock.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kCredit = std::size_t{1} << 20;     // of short messages, per sender
constexpr std::size_t kLetterBytes = sizeof(void*) * 16;  // what a buffered message takes beside its content

std::string name_of(int rank) { return rank == kAnyRank ? "any rank" : fmt::format("rank {}", rank); }

}  // namespace

Mailbox::Mailbox(LinkSet set) : set_(std::move(set)), link_waiter_(set_.wakeup, set_.alarm), lines_(set_.links.size()) {
  for (std::size_t rank = 0; rank < lines_.size(); ++rank) {
    lines_[rank].link = set_.links[rank].get();
    lines_[rank].credit = kCredit;
  }
}

// Wakes the threads whose condition holds, and the watcher if a link needs polling for output. Wakes nobody else,
// because each woken thread takes a core from the computation.
void Mailbox::announce() {
  for (Waiter* sleeper : sleepers_)
    if (sleeper->is_done()) sleeper->woken.notify_one();
  const auto is_to_be_watched = [](const Line& line) {
    return !line.out.empty() && !line.is_watched_to_send && line.link->descriptor() >= 0;
  };
  if (watcher_ != nullptr && (watcher_->is_done() || std::ranges::any_of(lines_, is_to_be_watched)))
    link_waiter_.wake();
}

void Mailbox::wake_all() {
  for (Waiter* sleeper : sleepers_) sleeper->woken.notify_one();
  if (watcher_ != nullptr) link_waiter_.wake();
}

void Mailbox::fail(const std::string& sentence) {
  failure_ = sentence;
  wake_all();
  base::run_error("{}", sentence);
}

void Mailbox::check(const std::string& what, int peer) {
  if (!failure_.empty()) base::run_error("{}", failure_);
  if (set_.alarm->is_raised()) fail(fmt::format("rank {}, {}: {}", set_.rank, what, set_.alarm->sentence()));
  if (!nobody_can_send(peer)) return;
  if (peer != kAnyRank && line(peer).gone.empty()) line(peer).gone = "it has left";
  base::run_error(
      "rank {}, {}: {}", set_.rank, what,
      peer == kAnyRank ? "all others have left the group" : fmt::format("rank {} has left the group", peer));
}

bool Mailbox::nobody_can_send(int from) const {
  const auto is_gone = [&](std::size_t rank) {
    if (is_own(static_cast<int>(rank))) return false;
    const Line& line = lines_[rank];
    return !line.gone.empty() ||
           (set_.alarm->has_left(static_cast<int>(rank)) && !line.link->can_receive() && line.link->descriptor() < 0);
  };
  if (from != kAnyRank) return is_gone(static_cast<std::size_t>(from));
  if (lines_.size() == 1) return false;  // another thread of this rank may send
  for (std::size_t rank = 0; rank < lines_.size(); ++rank)
    if (!is_own(static_cast<int>(rank)) && !is_gone(rank)) return false;
  return true;
}

bool Mailbox::could_move() const {
  return std::ranges::any_of(lines_, [](const Line& line) {
    return line.link != nullptr && line.gone.empty() &&
           (line.link->can_receive() || (!line.out.empty() && line.link->can_send()));
  });
}

// Spins briefly, or sleeps in poll(); releases the lock meanwhile, so that other callers get in.
void Mailbox::watch(Lock& lock, const Waiter& self, double seconds) {
  watcher_ = &self;
  if (link_waiter_.should_look_again()) {
    lock.unlock();
    lock.lock();
  } else {
    link_waiter_.polls().clear();
    for (Line& line : lines_) {
      if (line.link == nullptr || !line.gone.empty() || line.link->descriptor() < 0) continue;
      line.is_watched_to_send = !line.out.empty();
      link_waiter_.polls().push_back(
          {line.link->descriptor(), static_cast<short>(line.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    }
    link_waiter_.begin_sleep();
    if (!could_move()) {
      lock.unlock();
      link_waiter_.poll_links(seconds);
      lock.lock();
    }
    link_waiter_.end_sleep();
  }
  watcher_ = nullptr;
  if (const std::uint64_t count = set_.alarm->count(); count != std::exchange(seen_failure_count_, count)) wake_all();
}

void Mailbox::sleep(Lock& lock, Waiter& self, double seconds) {
  announce();  // the watcher may not know yet what this caller has to send
  const auto place = sleepers_.insert(sleepers_.end(), &self);
  self.woken.wait_for(lock, std::chrono::duration<double>(seconds));
  sleepers_.erase(place);
}

bool Mailbox::wait_until(Lock& lock, const std::string& what, int peer, const std::int64_t& moved_ns, double seconds,
                         base::FunctionRef<bool()> is_done) {
  struct HandOver {  // wakes a sleeper to be the next watcher
    Mailbox& mailbox;
    ~HandOver() {
      if (mailbox.watcher_ == nullptr && !mailbox.sleepers_.empty()) mailbox.sleepers_.front()->woken.notify_one();
    }
  } const hand_over{*this};
  Waiter self{is_done};
  while (!is_done()) {
    if (progress()) {
      link_waiter_.moved();
      announce();
      continue;
    }
    check(what, peer);
    const double left = seconds - base::seconds_since(moved_ns);
    if (left <= 0) return false;
    if (watcher_ != nullptr)
      sleep(lock, self, left);
    else
      watch(lock, self, left);
  }
  return true;
}

void Mailbox::send(int to, Tag tag, std::span<const std::byte> bytes) {
  base::check(to >= 0 && to < static_cast<int>(lines_.size()), "a message to rank {} of {}", to, lines_.size());
  const std::string what = fmt::format("sending {} bytes to rank {} (tag {})", bytes.size(), to, tag);
  Lock lock(mutex_);
  check(what, to);
  const std::size_t kept = bytes.size() + kLetterBytes;
  const bool at_once = bytes.size() <= kShort && line(to).credit >= kept;
  if (at_once) line(to).credit -= kept;
  Offer offer{to, bytes, base::now_ns()};
  bool is_sent = false;
  if (at_once && is_own(to)) {
    letters_.push_back({to, {Kind::message, tag, 0, bytes.size()}, {bytes.begin(), bytes.end()}, true});
    offer_to_wants(letters_.back());
    announce();
    return;
  }
  if (at_once) {
    line(to).out.push_back({{Kind::message, tag, 0, bytes.size()}, bytes, 0, nullptr, &is_sent, &offer.moved_ns});
  } else {
    const Head head{Kind::offer, tag, next_id_++, bytes.size()};
    offers_[head.id] = &offer;
    if (is_own(to)) {
      letters_.push_back({to, head});
      offer_to_wants(letters_.back());
      announce();
    } else {
      line(to).out.push_back({head});
    }
  }
  try {
    const bool in_time = wait_until(lock, what, to, offer.moved_ns, set_.deadline_seconds,
                                    [&] { return at_once ? is_sent : offer.pieces == 0; });
    if (!in_time)
      fail(fmt::format("rank {}, {}: rank {} did not take it within {:g} s", set_.rank, what, to,
                       set_.deadline_seconds));
  } catch (...) {  // nothing may refer to the locals of this call any more
    std::erase_if(offers_, [&](const auto& one) { return one.second == &offer; });
    line(to).out.clear();
    throw;
  }
}

Received Mailbox::receive(int from, Tag tag, std::span<std::byte> into) {
  Want want{from, tag, into, base::now_ns()};
  return *receive_want(want, set_.deadline_seconds, true);
}

std::optional<Received> Mailbox::receive_within(double seconds, int from, Tag tag, std::span<std::byte> into) {
  Want want{from, tag, into, base::now_ns()};
  return receive_want(want, seconds, false);
}

std::optional<Received> Mailbox::receive_want(Want& want, double seconds, bool must_come) {
  base::check(want.from >= kAnyRank && want.from < static_cast<int>(lines_.size()), "a message from rank {} of {}",
              want.from, lines_.size());
  const std::string what = fmt::format("receiving from {} (tag {})", name_of(want.from), want.tag);
  Lock lock(mutex_);
  if (!failure_.empty()) base::run_error("{}", failure_);
  if (!take_letter(want)) wants_.push_back(&want);
  try {
    const auto is_done = [&] { return want.done; };
    bool in_time = wait_until(lock, what, want.from, want.moved_ns, seconds, is_done);
    if (!in_time && want.matched)  // the rest of the message must arrive
      in_time = wait_until(lock, what, want.from, want.moved_ns, set_.deadline_seconds, is_done);
    if (!in_time && (want.matched || must_come))
      fail(fmt::format("rank {}, {}: {} did not send it within {:g} s; {} bytes were received", set_.rank, what,
                       name_of(want.from), set_.deadline_seconds, want.received_bytes));
  } catch (...) {
    wants_.remove(&want);
    if (want.matched && failure_.empty()) failure_ = fmt::format("rank {}, {}: given up", set_.rank, what);
    throw;
  }
  wants_.remove(&want);
  if (!want.error.empty()) base::run_error("rank {}, {}: {}", set_.rank, what, want.error);
  return want.done ? std::optional(want.got) : std::nullopt;
}

// The first pending receive() that a message matches.
Mailbox::Want* Mailbox::wanted(int from, Tag tag) {
  const auto found = std::ranges::find_if(wants_, [&](const Want* want) {
    return !want->matched && !want->done && want->tag == tag && (want->from == from || want->from == kAnyRank);
  });
  return found == wants_.end() ? nullptr : *found;
}

// Offers a message to the pending receives that match. If it is too long for one, that one fails and the next is tried.
void Mailbox::offer_to_wants(Letter& letter) {
  while (Want* want = wanted(letter.from, letter.head.tag)) {
    deliver(letter, *want);
    if (want->matched) return;
  }
}

bool Mailbox::take_letter(Want& want) {
  const auto found = std::ranges::find_if(letters_, [&](const Letter& letter) {
    return letter.want == nullptr && letter.head.tag == want.tag && (want.from == letter.from || want.from == kAnyRank);
  });
  if (found == letters_.end()) return false;
  deliver(*found, want);
  return true;
}

// Matches a message with a receive(): copies its content, requests it from the sender, or waits until it is complete.
void Mailbox::deliver(Letter& letter, Want& want) {
  want.moved_ns = base::now_ns();
  const auto bytes = static_cast<std::size_t>(letter.head.bytes);
  const auto forget = [&] { letters_.remove_if([&](const Letter& one) { return &one == &letter; }); };
  if (bytes > want.into.size()) {
    want.error = fmt::format("rank {} sent {} bytes, there is room for {}", letter.from, bytes, want.into.size());
    want.done = true;
    return;
  }
  want.matched = true;
  want.got = {letter.from, bytes};
  if (letter.head.kind == Kind::message && !letter.complete) {
    letter.want = &want;
    return;
  }
  if (letter.head.kind == Kind::message) {
    std::copy(letter.content.begin(), letter.content.end(), want.into.begin());
    want.done = true;
    give_credit(letter.from, bytes);
  } else if (is_own(letter.from)) {
    Offer& offer = *offers_.at(letter.head.id);
    std::copy(offer.bytes.begin(), offer.bytes.end(), want.into.begin());
    offers_.erase(letter.head.id);
    offer.pieces = 0;
    want.done = true;
    announce();
  } else {
    requested_[{letter.from, letter.head.id}] = &want;
    line(letter.from).out.push_back({{Kind::go, letter.head.tag, letter.head.id, 0}});
  }
  forget();
}

// Returns credit to the sender, at most once per half of kCredit instead of once per message.
void Mailbox::give_credit(int to, std::size_t bytes) {
  Line& its = line(to);
  its.owed_credit += bytes + kLetterBytes;
  if (is_own(to)) {
    its.credit += std::exchange(its.owed_credit, 0);
  } else if (its.owed_credit >= kCredit / 2) {
    its.out.push_back({{Kind::credit, 0, 0, std::exchange(its.owed_credit, 0)}});
  }
}

}  // namespace trireme::comm
