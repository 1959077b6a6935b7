// Mailbox: sending and receiving on its links. REQUIRES: every function here is called with the lock held.
#include <fmt/format.h>

#include <algorithm>

#include "base/system/clock.h"
#include "comm/mailbox/mailbox.h"
#include "comm/transport/link/message.h"

namespace trireme::comm {
namespace {
constexpr std::size_t kPiece = std::size_t{256} << 10;  // of a long message; other messages can go between pieces
}

bool Mailbox::progress() {
  if (!failure_.empty()) return false;
  bool moved = false;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    Line& one = lines_[i];
    const int rank = static_cast<int>(i);
    if (one.link == nullptr || !one.gone.empty()) continue;
    try {
      moved |= advance_out(one);
      moved |= advance_in(rank, one);
    } catch (const GoneError& error) {
      one.gone = error.what();
      if (!set_.alarm->has_left(rank)) set_.alarm->report(rank, error.what());
      wake_all();  // some may wait for this peer
      moved = true;
    }
  }
  return moved;
}

bool Mailbox::advance_out(Line& line) {
  bool moved = false;
  while (!line.out.empty()) {
    Outgoing& out = line.out.front();
    const auto head = std::as_bytes(std::span(&out.head, 1));
    const std::size_t count = send_message(*line.link, head, out.content, out.sent, short_);
    if (count == 0) return moved;
    moved = true;
    out.sent += count;
    set_.traffic->add(count, 0);
    if (out.moved_ns != nullptr) *out.moved_ns = base::now_ns();
    if (out.sent < message_bytes(head.size(), out.content.size())) continue;
    if (out.offer != nullptr) --out.offer->pieces;
    if (out.is_sent != nullptr) *out.is_sent = true;
    line.out.pop_front();
  }
  return moved;
}

bool Mailbox::advance_in(int rank, Line& line) {
  bool moved = false;
  for (;;) {
    if (line.header < sizeof line.head) {
      if (line.link->readable(sizeof line.head).empty()) return moved;
      const auto head = std::as_writable_bytes(std::span(&line.head, 1));
      const std::size_t count = line.link->receive(head.subspan(line.header));
      line.header += count;
      set_.traffic->add(0, count);
      moved = true;
      if (line.header < sizeof line.head) continue;
      begin(rank, line);
    }
    const std::size_t whole = padded(line.into.size());
    if (line.done < whole) {
      const std::size_t count = line.done < line.into.size() ? line.link->receive(line.into.subspan(line.done))
                                                             : receive_padding(*line.link, whole - line.done);
      if (count == 0) return moved;
      moved = true;
      line.done += count;
      set_.traffic->add(0, count);
      if (line.want != nullptr) line.want->moved_ns = base::now_ns();
      if (line.done < whole) continue;
    }
    end(rank, line);
  }
}

// A header is complete: finds the destination of its content.
void Mailbox::begin(int rank, Line& line) {
  const Head& head = line.head;
  line.into = {};
  line.want = nullptr;
  line.letter = nullptr;
  line.done = 0;
  switch (head.kind) {
    case Kind::message:
      if (Want* want = wanted(rank, head.tag); want != nullptr && head.bytes <= want->into.size()) {
        want->matched = true;
        want->got = {rank, static_cast<std::size_t>(head.bytes)};
        line.want = want;
        line.into = want->into.first(want->got.bytes);
        return;
      }
      if (head.bytes > kShort) break;
      letters_.push_back({rank, head, std::vector<std::byte>(static_cast<std::size_t>(head.bytes))});
      line.letter = &letters_.back();
      line.into = line.letter->content;
      offer_to_wants(letters_.back());
      return;
    case Kind::offer:
      letters_.push_back({rank, head});
      offer_to_wants(letters_.back());
      return;
    case Kind::content:
      if (const auto found = requested_.find({rank, head.id}); found != requested_.end()) {
        Want& want = *found->second;
        if (head.bytes > want.got.bytes - want.received_bytes) break;
        line.want = &want;
        line.into = want.into.subspan(want.received_bytes, static_cast<std::size_t>(head.bytes));
        return;
      }
      break;
    case Kind::go:
      if (!offers_.contains(head.id)) break;
      return send_offered(head);
    case Kind::credit: line.credit += static_cast<std::size_t>(head.bytes); return;
  }
  fail(fmt::format("rank {}: rank {} sent a message of kind {}, tag {}, number {} and {} bytes that nobody asked for",
                   set_.rank, rank, static_cast<std::uint32_t>(head.kind), head.tag, head.id, head.bytes));
}

void Mailbox::end(int rank, Line& line) {
  line.header = 0;
  if (line.want != nullptr) {
    Want& want = *line.want;
    want.received_bytes += line.into.size();
    want.done = want.received_bytes == want.got.bytes;
    if (line.head.kind == Kind::message) give_credit(rank, line.into.size());
    if (line.head.kind == Kind::content && want.done) requested_.erase({rank, line.head.id});
  } else if (line.letter != nullptr) {
    line.letter->complete = true;
    if (line.letter->want != nullptr) deliver(*line.letter, *line.letter->want);
  }
}

// The receiver requests an offered message: queues its pieces.
void Mailbox::send_offered(const Head& head) {
  Offer& offer = *offers_.at(head.id);
  offers_.erase(head.id);
  offer.moved_ns = base::now_ns();
  offer.pieces = std::max<std::size_t>((offer.bytes.size() + kPiece - 1) / kPiece, 1);
  for (std::size_t i = 0; i < offer.pieces; ++i) {
    const auto piece = offer.bytes.subspan(i * kPiece, std::min(kPiece, offer.bytes.size() - i * kPiece));
    line(offer.to).out.push_back(
        {{Kind::content, head.tag, head.id, piece.size()}, piece, 0, &offer, nullptr, &offer.moved_ns});
  }
}

}  // namespace trireme::comm
