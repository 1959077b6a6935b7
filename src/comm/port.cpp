#include "comm/port.h"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"

namespace trireme::comm {
namespace {

constexpr std::int64_t kSpinNs = 50'000;
constexpr std::size_t kShort = std::size_t{16} << 10;  // goes with its header in one piece

// Messages begin on 4 bytes, so that floats never lie in two pieces of a ring.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

}  // namespace

Port::Port(int rank, std::vector<std::unique_ptr<Link>> links, Bell bell, std::shared_ptr<Alarm> alarm,
           double deadline_seconds, std::shared_ptr<const void> memory)
    : rank_(rank),
      memory_(std::move(memory)),
      links_(std::move(links)),
      bell_(bell),
      alarm_(std::move(alarm)),
      deadline_seconds_(deadline_seconds) {
  alarm_->add_bell(bell_.descriptor());
}

Port::~Port() { alarm_->remove_bell(bell_.descriptor()); }

void Port::lay_out(std::span<const Transfer> transfers) {
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
      lane->link = links_.at(static_cast<std::size_t>(transfer.peer)).get();
      lane->messages.clear();
      lane->next = lane->header = lane->done = 0;
    }
    lane->messages.push_back(&transfer);
  }
}

void Port::run(const Operation& operation, std::span<const Transfer> transfers) {
  lay_out(transfers);
  std::int64_t still_since = 0;  // nothing has moved since then; 0: it has
  bool may_spin = false;
  for (;;) {
    bool moved = false, is_done = true;
    for (std::size_t i = 0; i < lanes_used_; ++i) {
      moved |= advance(lanes_[i], operation);
      is_done &= lanes_[i].is_done();
    }
    if (is_done) return;
    if (moved) {
      still_since = 0;
      continue;
    }
    const std::int64_t now = base::now_ns();
    if (still_since == 0) {
      still_since = now;
      may_spin = spin_.may_spin();
    }
    if (may_spin && now - still_since < kSpinNs) {
      for (int i = 0; i < 16; ++i) _mm_pause();
      continue;
    }
    wait(operation, still_since);
  }
}

bool Port::advance(Lane& lane, const Operation& operation) {
  bool moved = false;
  try {
    while (!lane.is_done()) {
      if (!(lane.direction == Transfer::Direction::send ? advance_send(lane, operation)
                                                        : advance_receive(lane, operation)))
        return moved;
      moved = true;
    }
  } catch (const GoneError& error) {
    alarm_->report(lane.peer, error.what());
    fail(lane, operation, fmt::format("is gone ({})", error.what()));
  }
  return moved;
}

bool Port::advance_send(Lane& lane, const Operation& operation) {
  const std::span<const std::byte> content = lane.messages[lane.next]->bytes;
  const MessageHeader header{operation, content.size()};
  const auto head = std::as_bytes(std::span(&header, 1));
  const std::size_t whole = padded(content.size());
  std::size_t count = 0;
  if (whole <= kShort) {
    short_.resize(head.size() + whole);
    std::memcpy(short_.data(), head.data(), head.size());
    if (!content.empty()) std::memcpy(short_.data() + head.size(), content.data(), content.size());
    std::fill(short_.begin() + static_cast<std::ptrdiff_t>(head.size() + content.size()), short_.end(), std::byte{});
    count = lane.link->send(std::span<const std::byte>(short_).subspan(lane.header + lane.done));
  } else if (lane.header < head.size()) {
    count = lane.link->send(head.subspan(lane.header));
  } else if (lane.done < content.size()) {
    count = lane.link->send(content.subspan(lane.done));
  } else {
    constexpr std::byte kPadding[4] = {};
    count = lane.link->send(std::span(kPadding).first(whole - lane.done));
  }
  const std::size_t of_header = std::min(count, head.size() - lane.header);
  lane.header += of_header;
  lane.done += count - of_header;
  if (lane.header == head.size() && lane.done == whole) {
    ++lane.next;
    lane.header = lane.done = 0;
  }
  return count > 0;
}

bool Port::advance_receive(Lane& lane, const Operation& operation) {
  const Transfer& message = *lane.messages[lane.next];
  if (lane.header < sizeof lane.head) {
    if (lane.link->readable(sizeof lane.head).empty()) return false;
    const auto head = std::as_writable_bytes(std::span(&lane.head, 1));
    lane.header += lane.link->receive(head.subspan(lane.header));
    if (lane.header < sizeof lane.head) return true;
    check_header(lane, operation, lane.head);
  }
  const std::size_t whole = padded(message.bytes.size());
  const std::size_t before = lane.done;
  if (lane.done < whole) lane.done += receive_part(lane);
  const bool moved = lane.done > before || whole == 0;
  if (lane.done == whole) {
    ++lane.next;
    lane.header = lane.done = 0;
  }
  return moved;
}

std::size_t Port::receive_part(Lane& lane) {
  const Transfer& message = *lane.messages[lane.next];
  const std::size_t left = message.bytes.size() - std::min(lane.done, message.bytes.size());
  if (left == 0) {  // what fills it up
    const std::size_t padding = padded(message.bytes.size()) - lane.done;
    std::byte ignored[4];
    return lane.link->receive(std::span(ignored).first(padding));
  }
  if (!message.combine) return lane.link->receive(message.bytes.subspan(lane.done));
  const auto there = lane.link->readable(left);
  const std::size_t count = std::min(there.size(), left) / sizeof(float) * sizeof(float);
  if (count == 0) return 0;
  combine_into(*message.combine, reinterpret_cast<float*>(message.bytes.data() + lane.done),
               reinterpret_cast<const float*>(there.data()), static_cast<std::int64_t>(count / sizeof(float)));
  lane.link->take(count);
  return count;
}

void Port::check_header(const Lane& lane, const Operation& operation, const MessageHeader& header) const {
  if (header.operation == operation && header.bytes == lane.messages[lane.next]->bytes.size()) return;
  base::run_error(
      "rank {} is in {}, but rank {} sent {} bytes of its {}: all ranks must run the same program with the "
      "same settings",
      rank_, describe(operation), lane.peer, header.bytes, describe(header.operation));
}

bool Port::could_move() const {
  for (std::size_t i = 0; i < lanes_used_; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.is_done()) continue;
    if (lane.direction == Transfer::Direction::send ? lane.link->can_send() : lane.link->can_receive()) return true;
  }
  return false;
}

void Port::wait(const Operation& operation, std::int64_t still_since_ns) {
  polls_.assign(1, {bell_.descriptor(), POLLIN, 0});
  const Lane* slow = nullptr;
  for (std::size_t i = 0; i < lanes_used_; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.is_done()) continue;
    slow = &lane;
    if (alarm_->is_raised()) fail(lane, operation, "");
    if (alarm_->has_left(lane.peer) && !could_move()) fail(lane, operation, "has left the group");
    if (const int descriptor = lane.link->descriptor(); descriptor >= 0)
      polls_.push_back(
          {descriptor, static_cast<short>(lane.direction == Transfer::Direction::send ? POLLOUT : POLLIN), 0});
  }
  const double left = deadline_seconds_ - base::seconds_since(still_since_ns);
  if (left <= 0) fail(*slow, operation, fmt::format("did not answer within {:g} s", deadline_seconds_));
  bell_.lie_down();
  if (!could_move()) poll(polls_.data(), polls_.size(), static_cast<int>(std::ceil(left * 1e3)));
  bell_.get_up();
}

void Port::fail(const Lane& lane, const Operation& operation, const std::string& why) const {
  if (alarm_->is_raised()) base::run_error("rank {}, {}: {}", rank_, describe(operation), alarm_->sentence());
  const Transfer* message = lane.is_done() ? nullptr : lane.messages[lane.next];
  base::run_error("rank {}, {}: rank {} {}; {} of {} bytes were {}", rank_, describe(operation), lane.peer, why,
                  message != nullptr ? std::min(lane.done, message->bytes.size()) : 0,
                  message != nullptr ? message->bytes.size() : 0,
                  lane.direction == Transfer::Direction::send ? "sent to it" : "received from it");
}

}  // namespace trireme::comm
