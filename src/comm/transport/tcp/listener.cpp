#include "comm/transport/tcp/listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/descriptors.h"
#include "comm/transport/link/link.h"

namespace trireme::comm {
namespace {

constexpr std::int64_t kPatienceNs = 5'000'000'000;
constexpr std::int64_t kGraceNs = 500'000'000;  // more than a peer of this job needs to finish the handshake
constexpr std::int64_t kFullNs = 100'000'000;   // pause before the next accept after running out of descriptors
constexpr std::size_t kMostVisitors = 256, kFewestVisitors = 8, kHelloBytes = 16384;
// Listeners that a process may have: the rendezvous, one for other hosts, one for its own host.
constexpr std::size_t kListeners = 3;
// Descriptors that the process needs itself: per rank, three links and a connection at the rendezvous (or as many
// wakeups); besides, files, pipes and others.
constexpr std::size_t kOwnOfARank = 4, kOwnBeside = 128;

std::size_t visitors_that_fit(int world) {
  const std::size_t own = kOwnOfARank * static_cast<std::size_t>(world) + kOwnBeside;
  const std::size_t limit = base::descriptor_limit();
  return std::clamp((limit - std::min(own, limit)) / kListeners, kFewestVisitors, kMostVisitors);
}

}  // namespace

Listener::Listener(Socket listener, Secrecy secrecy, int world)
    : listener_(std::move(listener)), secrecy_(std::move(secrecy)), most_visitors_(visitors_that_fit(world)) {}

void Listener::add_polls(std::vector<pollfd>& polls) const {
  if (!is_crowded()) polls.push_back({listener_.descriptor(), POLLIN, 0});
  for (const Visitor& visitor : visitors_) {
    const Tls* tls = visitor.socket.tls();
    polls.push_back(
        {visitor.socket.descriptor(), static_cast<short>(tls && tls->wants_to_write() ? POLLOUT : POLLIN), 0});
  }
}

bool Listener::is_crowded() const {
  const std::int64_t now = base::now_ns();
  return now < accept_again_ns_ ||
         (visitors_.size() == most_visitors_ && now < visitors_.front().until_ns - kPatienceNs + kGraceNs);
}

std::vector<Guest> Listener::accept_authenticated() {
  while (!is_crowded()) {
    Socket socket = accept_now(listener_);
    if (!socket.is_open()) {
      if (errno == EMFILE || errno == ENFILE) accept_again_ns_ = base::now_ns() + kFullNs;
      break;
    }
    if (!is_of_this_user(socket)) continue;
    if (visitors_.size() == most_visitors_) visitors_.pop_front();
    visitors_.push_back({std::move(socket), HostHandshake(secrecy_), {}, FrameReader(kHelloBytes), 0});
    Visitor& visitor = visitors_.back();
    visitor.until_ns = base::now_ns() + kPatienceNs;
    try {
      // Does not wait: the greeting fits into the send buffer of any new connection.
      send_all(visitor.socket, visitor.handshake.greeting(), base::now_ns());
    } catch (const GoneError&) {
      visitors_.pop_back();
    }
  }
  std::vector<Guest> guests;
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    bool is_leaving = base::now_ns() > visitor->until_ns;
    try {
      if (auto hello = listen_to(*visitor)) {
        guests.push_back({std::move(visitor->socket), std::move(*hello)});
        is_leaving = true;
      }
    } catch (const std::runtime_error&) {  // any error: it is not a peer of this job
      is_leaving = true;
    }
    visitor = is_leaving ? visitors_.erase(visitor) : std::next(visitor);
  }
  return guests;
}

bool Listener::is_proven(Visitor& visitor) {
  std::array<std::byte, kProofBytes> bytes{};
  if (visitor.proof.size() == kProofBytes) return true;
  const std::size_t count = receive_some(visitor.socket, std::span(bytes).first(kProofBytes - visitor.proof.size()));
  visitor.proof.insert(visitor.proof.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
  if (visitor.proof.size() < kProofBytes) return false;
  const auto proof = std::span<const std::byte, kProofBytes>(visitor.proof);
  if (!visitor.handshake.accepts(proof)) throw GoneError("a wrong token");
  send_all(visitor.socket, visitor.handshake.answer(proof), base::now_ns());
  visitor.socket.authenticate(visitor.handshake.mac_keys(proof));
  if (!visitor.handshake.agrees(proof)) {
    disagreement_ =
        fmt::format("a rank at {} was started {} --tls, rank 0 {} it; give all ranks the same setting",
                    other_host(visitor.socket), secrecy_.tls ? "without" : "with", secrecy_.tls ? "with" : "without");
    throw GoneError(disagreement_);
  }
  if (secrecy_.tls) visitor.socket.encrypt(Tls::Side::host, visitor.handshake.key(proof));
  return true;
}

std::optional<std::string> Listener::listen_to(Visitor& visitor) {
  if (!is_proven(visitor)) return std::nullopt;
  if (Tls* tls = visitor.socket.tls(); tls != nullptr && !tls->shake_hands()) return std::nullopt;
  std::array<std::byte, 4096> bytes{};
  // Read no further than the hello: later bytes belong to the user of the guest's socket.
  for (;;) {
    if (const auto frame = visitor.frames.next()) {
      auto hello = authentic_text(visitor.socket, *frame);
      if (!hello) throw FrameError("a hello with a wrong code");
      return hello;
    }
    const std::size_t wanted = std::min(visitor.frames.missing(), bytes.size());
    const std::size_t count = receive_some(visitor.socket, std::span(bytes).first(wanted));
    if (count == 0) return std::nullopt;
    visitor.frames.add(std::span(bytes).first(count));
  }
}

Socket enter(const Address& address, const Secrecy& secrecy,
             const std::function<std::string(const Socket& connected)>& hello, std::string_view what,
             std::int64_t deadline_ns) {
  const std::string name = fmt::format("{} at {}", what, to_text(address));
  Socket socket = connect_to(address, deadline_ns);
  if (!is_of_this_user(socket)) base::run_error("{} belongs to another user of this host", name);
  try {
    authenticate_host(socket, secrecy, name, deadline_ns);
    send_frame(socket, hello(socket), deadline_ns);
  } catch (const GoneError& error) {
    base::run_error("{} is gone: {}", name, error.what());
  }
  return socket;
}

}  // namespace trireme::comm
