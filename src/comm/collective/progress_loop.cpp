#include "comm/collective/progress_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/system/clock.h"
#include "comm/transport/link/message.h"

namespace trireme::comm {
namespace {
constexpr double kLookForBarriersSeconds = 0.5;
}

ProgressLoop::ProgressLoop(LinkSet set)
    : set_(std::move(set)), link_waiter_(set_.wakeup, set_.alarm), waited_ns_(set_.links.size()) {}

void ProgressLoop::build_lanes(std::span<const Transfer> transfers) {
  lanes_used_ = 0;
  for (const Transfer& transfer : transfers) {
    const auto end = lanes_.begin() + static_cast<std::ptrdiff_t>(lanes_used_);
    auto lane = std::find_if(lanes_.begin(), end, [&](const Lane& one) {
      return one.peer == transfer.peer && one.direction == transfer.direction;
    });
    if (lane == end) {
      if (lanes_used_ == lanes_.size()) lanes_.emplace_back();
      lane = lanes_.begin() + static_cast<std::ptrdiff_t>(lanes_used_++);
      lane->peer = transfer.peer;
      lane->direction = transfer.direction;
      lane->link = set_.links.at(static_cast<std::size_t>(transfer.peer)).get();
      lane->messages.clear();
      lane->next = lane->header = lane->done = 0;
    }
    lane->messages.push_back(&transfer);
  }
}

void ProgressLoop::run(const Operation& operation, std::span<const Transfer> transfers) {
  build_lanes(transfers);
  link_waiter_.moved();
  for (;;) {
    bool moved = false, is_done = true;
    for (std::size_t i = 0; i < lanes_used_; ++i) {
      moved |= advance(lanes_[i], operation);
      is_done &= lanes_[i].is_done();
    }
    if (is_done) return;
    if (moved)
      link_waiter_.moved();
    else if (!link_waiter_.should_look_again())
      wait(operation);
  }
}

bool ProgressLoop::advance(Lane& lane, const Operation& operation) {
  bool moved = false;
  try {
    while (!lane.is_done()) {
      if (!(lane.direction == Transfer::Direction::send ? advance_send(lane, operation)
                                                        : advance_receive(lane, operation)))
        return moved;
      moved = true;
    }
  } catch (const GoneError& error) {
    drain_messages_of(lane.peer, operation);
    if (!set_.alarm->has_left(lane.peer)) set_.alarm->report(lane.peer, error.what());
    fail(lane, operation,
         set_.alarm->has_left(lane.peer) ? "has left the group" : fmt::format("is gone ({})", error.what()));
  }
  return moved;
}

// A peer that is gone may have sent a header before that shows it was in another operation.
void ProgressLoop::drain_messages_of(int peer, const Operation& operation) {
  for (std::size_t i = 0; i < lanes_used_; ++i) {
    Lane& lane = lanes_[i];
    if (lane.peer != peer || lane.direction != Transfer::Direction::receive) continue;
    try {
      while (!lane.is_done() && advance_receive(lane, operation)) continue;
    } catch (const GoneError&) {  // already known
    }
  }
}

bool ProgressLoop::advance_send(Lane& lane, const Operation& operation) {
  const std::span<const std::byte> content = lane.messages[lane.next]->bytes;
  const MessageHeader header{operation, content.size()};
  const auto head = std::as_bytes(std::span(&header, 1));
  const std::size_t count = send_message(*lane.link, head, content, lane.done, short_);
  lane.done += count;
  set_.traffic->add(count, 0);
  if (lane.done == message_bytes(head.size(), content.size())) {
    ++lane.next;
    lane.done = 0;
  }
  return count > 0;
}

bool ProgressLoop::advance_receive(Lane& lane, const Operation& operation) {
  const Transfer& message = *lane.messages[lane.next];
  if (lane.header < sizeof lane.head) {
    if (lane.link->readable(sizeof lane.head).empty()) return false;
    const auto head = std::as_writable_bytes(std::span(&lane.head, 1));
    const std::size_t count = lane.link->receive(head.subspan(lane.header));
    lane.header += count;
    set_.traffic->add(0, count);
    if (lane.header < sizeof lane.head) return true;
    check_header(lane, operation, lane.head);
  }
  const std::size_t whole = padded(message.bytes.size());
  const std::size_t before = lane.done;
  if (lane.done < whole) lane.done += receive_part(lane);
  set_.traffic->add(0, lane.done - before);
  const bool moved = lane.done > before || whole == 0;
  if (lane.done == whole) {
    ++lane.next;
    lane.header = lane.done = 0;
  }
  return moved;
}

std::size_t ProgressLoop::receive_part(Lane& lane) {
  const Transfer& message = *lane.messages[lane.next];
  const std::size_t left = message.bytes.size() - std::min(lane.done, message.bytes.size());
  if (left == 0) return receive_padding(*lane.link, padded(message.bytes.size()) - lane.done);
  if (!message.combine) return lane.link->receive(message.bytes.subspan(lane.done));
  const auto there = lane.link->readable(left);
  const std::size_t count = std::min(there.size(), left) / sizeof(float) * sizeof(float);
  if (count == 0) return 0;
  combine_into(*message.combine, reinterpret_cast<float*>(message.bytes.data() + lane.done),
               reinterpret_cast<const float*>(there.data()), static_cast<std::int64_t>(count / sizeof(float)));
  lane.link->take(count);
  return count;
}

void ProgressLoop::check_header(const Lane& lane, const Operation& operation, const MessageHeader& header) const {
  if (header.operation == operation && header.bytes == lane.messages[lane.next]->bytes.size()) return;
  disagree(operation, lane.peer, header.bytes, header.operation);
}

void ProgressLoop::disagree(const Operation& operation, int peer, std::uint64_t bytes, const Operation& its) const {
  base::run_error(
      "rank {} is in {}, but rank {} sent {} bytes of its {}: all ranks must run the same program with the "
      "same settings",
      set_.rank, describe(operation), peer, bytes, describe(its));
}

bool ProgressLoop::could_move() const {
  for (std::size_t i = 0; i < lanes_used_; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.is_done()) continue;
    if (lane.direction == Transfer::Direction::send ? lane.link->can_send() : lane.link->can_receive()) return true;
  }
  return false;
}

int ProgressLoop::take_late() {
  const auto longest = std::ranges::max_element(waited_ns_);
  const int late = longest == waited_ns_.end() || *longest == 0 ? -1 : static_cast<int>(longest - waited_ns_.begin());
  std::ranges::fill(waited_ns_, 0);
  return late;
}

template <class Sleep>
void ProgressLoop::sleep_for(int late, const Sleep& sleep) {
  const std::int64_t start_ns = base::now_ns();
  sleep();
  if (late >= 0) waited_ns_[static_cast<std::size_t>(late)] += base::now_ns() - start_ns;
}

void ProgressLoop::wait(const Operation& operation) {
  link_waiter_.polls().clear();
  const Lane* slow = nullptr;
  int late = -1;
  for (std::size_t i = 0; i < lanes_used_; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.is_done()) continue;
    slow = &lane;
    if (lane.direction == Transfer::Direction::receive || late < 0) late = lane.peer;
    fail_if_alarmed(operation);
    // A peer that waits at a barrier instead of taking part in this operation sends no message for it.
    if (const Operation* its = set_.barrier ? set_.barrier->ahead(lane.peer) : nullptr;
        its != nullptr && its->sequence <= operation.sequence)
      disagree(operation, lane.peer, 0, *its);
    const int descriptor = lane.link->descriptor();
    // Over a socket, what the peer sent before it left may still be on its way; the socket reports its own end.
    if (descriptor < 0 && set_.alarm->has_left(lane.peer) && !could_move()) fail(lane, operation, "has left the group");
    if (descriptor >= 0)
      link_waiter_.polls().push_back(
          {descriptor, static_cast<short>(lane.direction == Transfer::Direction::send ? POLLOUT : POLLIN), 0});
  }
  const double left = set_.deadline_seconds - link_waiter_.still_seconds();
  if (left <= 0) fail(*slow, operation, fmt::format("did not answer within {:g} s", set_.deadline_seconds));
  // Arriving at a barrier wakes nobody who is not at it, so look at the barrier from time to time.
  sleep_for(late, [&] {
    link_waiter_.sleep(set_.barrier ? std::min(left, kLookForBarriersSeconds) : left, [&] { return could_move(); });
  });
}

void ProgressLoop::meet(const Operation& operation, std::span<const std::byte> own) {
  set_.barrier->arrive(operation, own);
  link_waiter_.moved();
  while (!set_.barrier->is_complete())
    if (!link_waiter_.should_look_again()) wait_for_barrier(operation);
  set_.barrier->pass_on();
  for (int peer = 0; peer < world(); ++peer)
    if (const Operation& its = set_.barrier->operation(peer); its != operation)
      disagree(operation, peer, set_.barrier->content(peer).size(), its);
}

void ProgressLoop::take_left(const Operation& operation, int rank, std::span<std::byte> into) const {
  const auto left = set_.barrier->content(rank);
  if (left.size() != into.size()) disagree(operation, rank, left.size(), set_.barrier->operation(rank));
  std::ranges::copy(left, into.begin());
}

void ProgressLoop::wait_for_barrier(const Operation& operation) {
  const HostBarrier& barrier = *set_.barrier;
  const double left = set_.deadline_seconds - link_waiter_.still_seconds();
  int late = -1;
  for (int peer = 0; peer < world(); ++peer) {
    if (peer == set_.rank || barrier.has_arrived(peer)) continue;
    late = peer;
    fail_if_alarmed(operation);
    // A peer that sent a message instead of arriving is in another operation, unless it arrived meanwhile and the
    // message belongs to a later one.
    const auto sent = set_.links[static_cast<std::size_t>(peer)]->readable(sizeof(MessageHeader));
    if (sent.size() >= sizeof(MessageHeader) && !barrier.has_arrived(peer)) {
      MessageHeader header;
      std::memcpy(&header, sent.data(), sizeof header);
      disagree(operation, peer, header.bytes, header.operation);
    }
    const auto fail_without = [&](const std::string& why) {
      base::run_error("rank {}, {}: rank {} {}", set_.rank, describe(operation), peer, why);
    };
    if (set_.alarm->has_left(peer) && !barrier.has_arrived(peer)) fail_without("has left the group");
    if (left <= 0) fail_without(fmt::format("did not come within {:g} s", set_.deadline_seconds));
  }
  link_waiter_.polls().clear();
  sleep_for(late, [&] { link_waiter_.sleep(std::max(left, 0.0), [&] { return barrier.is_complete(); }); });
}

void ProgressLoop::fail_if_alarmed(const Operation& operation) const {
  if (set_.alarm->is_raised())
    base::run_error("rank {}, {}: {}", set_.rank, describe(operation), set_.alarm->sentence());
}

void ProgressLoop::fail(const Lane& lane, const Operation& operation, const std::string& why) const {
  fail_if_alarmed(operation);
  const bool sends = lane.direction == Transfer::Direction::send;
  const std::size_t all = lane.is_done() ? 0 : lane.messages[lane.next]->bytes.size();
  const std::size_t head = sends ? std::min(lane.done, sizeof(MessageHeader)) : 0;
  base::run_error("rank {}, {}: rank {} {}; {} of {} bytes were {}", set_.rank, describe(operation), lane.peer, why,
                  std::min(lane.done - head, all), all, sends ? "sent to it" : "received from it");
}

}  // namespace trireme::comm
