#include "fuzz/comm_targets.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/system/clock.h"
#include "comm/membership/failure_detector.h"
#include "comm/membership/membership.h"
#include "comm/transport/link/link.h"
#include "comm/transport/tcp/authenticated_link.h"
#include "support/receive_frame.h"

namespace trireme::fuzz {
namespace {

using Span = std::span<const std::uint8_t>;
using Json = nlohmann::json;
using namespace comm;

constexpr const char* kToken = "a token";
constexpr double kPatience = 60;
// For an end that does not come: a guest that has left is not listened to any more.
constexpr std::int64_t kQuietNs = 5'000'000;

Address rendezvous() { return {fmt::format("@trireme-fuzz-{}", getpid()), 0}; }

// All frames, from pieces of so many bytes; the last one is "error" where the rest is none.
std::vector<std::string> frames_of(Span bytes, std::size_t piece) {
  constexpr std::size_t kMost = 4096;
  std::vector<std::string> frames;
  FrameReader reader(kMost);
  try {
    while (!bytes.empty()) {
      const std::size_t count = std::min({piece, bytes.size(), std::max<std::size_t>(1, reader.missing())});
      reader.add(std::as_bytes(bytes.first(count)));
      bytes = bytes.subspan(count);
      while (auto frame = reader.next()) frames.push_back(*frame);
      base::check(reader.missing() <= kMost + 4, "{} bytes are missing", reader.missing());
    }
  } catch (const FrameError&) {
    frames.emplace_back("error");
  }
  return frames;
}

// Empty when the frame is no such message.
template <class Read>
auto read_if_valid(const Read& read, const std::string& frame) -> std::optional<decltype(read(frame))> {
  try {
    return read(frame);
  } catch (const FrameError&) {
    return std::nullopt;
  }
}

// What could be read can be passed on.
void read_message(const std::string& frame) {
  if (const auto hello = read_if_valid(hello_from_json, frame))
    base::check(hello_from_json(to_json(*hello)).member.rank == hello->member.rank, "another rank");
  if (const auto members = read_if_valid(members_from_json, frame))
    base::check(members_from_json(to_json(*members)).size() == members->size(), "other members");
}

void send_bytes(const Socket& socket, Span bytes) {
  send_all(socket, std::as_bytes(bytes), base::in_seconds(kPatience));
}

// Nothing more is sent; waits until the other side has closed, or says nothing.
void finish(const Socket& socket, std::int64_t quiet_ns) {
  shutdown(socket.descriptor(), SHUT_WR);
  std::array<std::byte, 4096> bytes;
  try {
    while (wait_readable(socket, base::now_ns() + quiet_ns)) receive_some(socket, bytes);
  } catch (const GoneError&) {
  }
}

// The input as the other side would send it: each whole frame with its code, then whatever is left.
void send_with_codes(const Socket& socket, Span bytes) {
  constexpr std::size_t kMost = 1 << 16;
  FrameReader reader(kMost);
  reader.add(std::as_bytes(bytes));
  try {
    while (const auto frame = reader.next()) {
      send_frame(socket, *frame, base::in_seconds(kPatience));
      bytes = bytes.subspan(std::min(bytes.size(), make_frame(*frame).size()));
    }
  } catch (const FrameError&) {  // that is the rest
  }
  send_bytes(socket, bytes);
}

// The guest's part of the handshake.
std::array<std::byte, kProofBytes> prove(const Socket& socket, GuestHandshake& handshake) {
  std::array<std::byte, kGreetingBytes> greeting{};
  receive_all(socket, greeting, base::in_seconds(kPatience));
  return handshake.proof(greeting).value();
}

Hello a_hello(int world) {
  Hello hello{world, "trireme", {}};
  hello.member = {world - 1, 4711, "node3", "boot/1", {"10.0.0.3", 4000}, {"@trireme-4711", 0}};
  return hello;
}

Bytes with_mode(std::uint8_t mode, const std::vector<std::string>& frames) {
  Bytes bytes{mode};
  for (const std::string& frame : frames)
    for (const char c : make_frame(frame)) bytes.push_back(static_cast<std::uint8_t>(c));
  return bytes;
}

}  // namespace

void read_frames(Span bytes) {
  if (bytes.empty()) return;
  const auto frames = frames_of(bytes.subspan(1), std::size_t{1} + bytes[0]);
  base::check(frames == frames_of(bytes.subspan(1), bytes.size()), "other frames from other pieces");
  for (const std::string& frame : frames) read_message(frame);
}

std::vector<Bytes> frame_seeds() {
  const Hello hello = a_hello(2);
  return {with_mode(3, {to_json(hello), "", to_json(std::vector{hello.member, hello.member})}), with_mode(255, {"x"}),
          with_mode(0, {R"([{"rank":0,"process":1,"host":"","host_mark":"","address":"[@]:5","local":"@x"}])"})};
}

void visit_listener(Span bytes) {
  if (bytes.empty()) return;
  const auto is_set = [&](int bit) { return (bytes[0] >> bit & 1) != 0; };
  const bool says_proof = is_set(0), is_spoilt = is_set(1), tls = is_set(2), encrypts = tls && is_set(3);
  const bool has_codes = !is_set(7);
  const std::size_t piece = std::size_t{1} + (bytes[0] >> 4) * std::size_t{16};
  Span rest = bytes.subspan(1);
  Listener listener(listen_on(rendezvous()), {kToken, tls});
  Socket socket = connect_to(rendezvous(), base::in_seconds(kPatience));
  std::vector<Guest> guests = listener.accept_authenticated();
  bool is_right = false;
  try {
    if (says_proof) {
      GuestHandshake handshake({kToken, tls});
      auto proof = prove(socket, handshake);
      const auto right = proof;
      if (is_spoilt)
        for (std::size_t i = 0; i < proof.size() && !rest.empty(); ++i, rest = rest.subspan(1))
          proof[i] ^= static_cast<std::byte>(rest[0]);
      send_all(socket, proof, base::in_seconds(kPatience));
      is_right = proof == right && tls == encrypts;
      socket.authenticate(handshake.mac_keys());
      if (is_right && encrypts) {
        base::Digest answer{};
        base::check(listener.accept_authenticated().empty(), "somebody came in without a hello");
        receive_all(socket, answer, base::in_seconds(kPatience));
        socket.encrypt(Tls::Side::guest, handshake.key());
        while (!socket.tls()->shake_hands()) listener.accept_authenticated();
      }
    }
    if (is_right && has_codes) {
      send_with_codes(socket, rest);
      rest = {};
    }
    while (!rest.empty() && guests.empty()) {
      const std::size_t count = std::min(piece, rest.size());
      send_bytes(socket, rest.first(count));
      rest = rest.subspan(count);
      guests = listener.accept_authenticated();
    }
  } catch (const GoneError&) {  // it was refused
  }
  shutdown(socket.descriptor(), SHUT_WR);
  if (guests.empty()) guests = listener.accept_authenticated();
  base::check(guests.empty() || (is_right && has_codes), "somebody came in without a proof, or a code");
  for (const Guest& guest : guests) read_message(guest.hello);
  std::vector<pollfd> polls;
  listener.add_polls(polls);
  base::check(polls.size() == 1, "{} visitors stay who have closed", polls.size() - 1);
}

std::vector<Bytes> listener_seeds() {
  const std::string hello = to_json(a_hello(2));
  Bytes spoilt = with_mode(3, {hello});
  spoilt.insert(spoilt.begin() + 1, kProofBytes, 0);
  return {with_mode(0, {hello}),
          with_mode(1, {hello}),
          with_mode(0x71, {hello, hello}),
          with_mode(0xf1, {hello, hello}),
          with_mode(1 + 4, {hello}),
          with_mode(1 + 4 + 8, {hello}),
          with_mode(0x70 + 1 + 4 + 8, {hello, hello}),
          spoilt};
}

void visit_arbiter(Span bytes) {
  if (bytes.empty()) return;
  FailureDetector arbiter(listen_on(rendezvous()), {kToken}, 1 + bytes[0] % 2, "trireme", {});
  Socket socket = connect_to(rendezvous(), base::in_seconds(kPatience));
  try {
    GuestHandshake handshake({kToken});
    send_all(socket, prove(socket, handshake), base::in_seconds(kPatience));
    socket.authenticate(handshake.mac_keys());
    if (bytes[0] < 128)
      send_with_codes(socket, bytes.subspan(1));
    else
      send_bytes(socket, bytes.subspan(1));
  } catch (const GoneError&) {  // it was refused
  }
  finish(socket, kQuietNs);
}

std::vector<Bytes> arbiter_seeds() {
  const auto said = [](const char* what) { return Json{{"do", what}}.dump(); };
  const std::string report = Json{{"do", "report"}, {"rank", 0}, {"what", "it was closed"}}.dump();
  return {with_mode(0, {to_json(a_hello(1)), said("beat"), report, said("again"), said("leave")}),
          with_mode(1, {to_json(a_hello(2)), said("beat"), report}), with_mode(1, {"{\"world\": \xff"}),
          with_mode(0, {to_json(a_hello(1)), "\xff\xfe"}), with_mode(128, {to_json(a_hello(1)), said("leave")})};
}

void host_member(Span bytes) {
  if (bytes.empty()) return;
  const bool greets = bytes[0] % 3 > 0, answers = bytes[0] % 3 > 1, has_codes = answers && bytes[0] < 128;
  const Socket listener = listen_on(rendezvous());
  std::thread host([&] {
    const std::int64_t deadline = base::in_seconds(kPatience);
    if (!wait_readable(listener, deadline)) return;
    Socket socket = accept_now(listener);
    const HostHandshake handshake({kToken});
    try {
      if (greets) send_all(socket, handshake.greeting(), deadline);
      if (answers) {
        std::array<std::byte, kProofBytes> proof{};
        receive_all(socket, proof, deadline);
        send_all(socket, handshake.answer(proof), deadline);
        socket.authenticate(handshake.mac_keys(proof));
        support::receive_frame(socket, 4096, deadline);
      }
      if (has_codes)
        send_with_codes(socket, bytes.subspan(1));
      else
        send_bytes(socket, bytes.subspan(1));
    } catch (const GoneError&) {  // the rank had enough
    }
    finish(socket, static_cast<std::int64_t>(kPatience * 1e9));
  });
  JoinOptions options;
  options.address = rendezvous();
  options.token = kToken;
  options.world = 2;
  try {
    Membership membership(options, a_hello(2).member, 4000, base::in_seconds(kPatience));
    const MembershipView view = membership.meet(base::in_seconds(kPatience));
    base::check(view.rank >= 0 && view.rank < static_cast<int>(view.members.size()), "rank {}", view.rank);
  } catch (const base::Error& error) {
    host.join();
    if (error.kind() == base::ErrorKind::internal) throw;
    return;
  }
  host.join();
}

std::vector<Bytes> membership_seeds() {
  Member zero = a_hello(1).member, one = a_hello(2).member;
  const std::string begin =
      Json{{"do", "begin"}, {"rank", 1}, {"generation", 1}, {"members", to_json(std::vector{zero, one})}}.dump();
  const std::string empty = Json{{"do", "begin"}, {"rank", 0}, {"generation", 1}, {"members", "[]"}}.dump();
  const std::string left = Json{{"do", "left"}, {"rank", 0}}.dump();
  const std::string far_left = Json{{"do", "left"}, {"rank", 1 << 30}}.dump();
  const std::string verdict = Json{{"do", "verdict"}, {"rank", 0}, {"text", "rank 0 is gone"}}.dump();
  const std::string refuse = Json{{"do", "refuse"}, {"why", "the group is full"}}.dump();
  const std::string farewell = Json{{"do", "farewell"}}.dump();
  Bytes wrong_answer(1 + sizeof(base::Digest), 7);
  return {with_mode(0, {"hello"}), wrong_answer,          with_mode(2, {begin, left, verdict, farewell}),
          with_mode(2, {refuse}),  with_mode(2, {empty}), with_mode(2, {begin, far_left}),
          with_mode(128, {begin})};
}

void read_link(Span bytes) {
  constexpr std::size_t kHead = 3;
  if (bytes.size() < kHead) return;
  // The first bytes say what is a control message, in what pieces it goes, and how much of the rest has codes.
  const std::size_t control = bytes[0] * std::size_t{16}, piece = std::size_t{1} + bytes[1] * std::size_t{8};
  const Span rest = bytes.subspan(kHead), sent = rest.first(rest.size() * bytes[2] / 255);
  int ends[2];
  base::check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0, "no sockets");
  const base::Digest one{std::byte{1}}, other{std::byte{2}};
  Socket from(ends[0]), to(ends[1]);
  const Socket forger(dup(ends[0]));
  from.authenticate({one, other});
  to.authenticate({other, one});
  AuthenticatedLink out(std::move(from), control), in(std::move(to), control);
  std::vector<std::byte> got;
  const auto read_some = [&] {
    std::array<std::byte, 100> room{};
    const std::size_t before = got.size();
    if (got.size() % 2 == 0) {
      const auto there = in.readable(room.size());
      got.insert(got.end(), there.begin(), there.end());
      in.take(there.size());
    } else {
      const std::size_t count = in.receive(room);
      got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return got.size() > before;
  };
  for (std::size_t gone = 0; gone < sent.size();) {
    std::size_t left = std::min(piece, sent.size() - gone);
    while (left > 0) {
      const std::size_t count = out.send(std::as_bytes(sent.subspan(gone, left)));
      gone += count;
      left -= count;
      while (read_some()) continue;
    }
  }
  base::check(std::ranges::equal(got, std::as_bytes(sent)), "{} bytes came of {}", got.size(), sent.size());
  try {  // and nothing of what has no codes
    send_bytes(forger, rest.subspan(sent.size()));
    while (read_some()) continue;
  } catch (const GoneError&) {
  }
  base::check(got.size() == sent.size(), "bytes without a code came");
}

std::vector<Bytes> link_seeds() {
  const auto seed = [](std::uint8_t control, std::uint8_t piece, std::uint8_t with_codes, std::size_t size) {
    Bytes bytes{control, piece, with_codes};
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7));
    return bytes;
  };
  return {seed(64, 1, 255, 1000), seed(4, 255, 200, 10000), seed(0, 100, 128, 3000), seed(255, 0, 0, 100)};
}

}  // namespace trireme::fuzz
