// Listener: the listening socket; accepts a connection after the peer has proved knowledge of the job token.
// One caller at a time; never waits.
// A peer must then send one frame, its hello: who it is and what it wants. Any other connection has no effect: it is
// closed after a few seconds, at its first wrong byte, or, on a local listener, if it is of another user (except root).
// The number of unauthenticated connections is limited so that the process keeps the descriptors it needs; further ones
// wait in the backlog until the oldest has had enough time. A peer that knows the token but has another TLS setting is
// noted (disagreement()).
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "comm/transport/tcp/frame.h"
#include "comm/transport/tcp/handshake.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

struct Guest {
  Socket socket;
  std::string hello;  // the text of its frame
};

class Listener {
 public:
  // `world` is the number of ranks in the group.
  Listener(Socket listener, Secrecy secrecy, int world = 1);

  // The descriptors to poll; then accept_authenticated() does what is possible without waiting.
  void add_polls(std::vector<pollfd>& polls) const;
  std::vector<Guest> accept_authenticated();

  // Whether connections wait in the backlog for a free place; poll() does not report when that ends.
  bool is_crowded() const;
  // What to tell the user about a rank of this job with another TLS setting; empty if there is none.
  const std::string& disagreement() const { return disagreement_; }

  const Socket& listener() const { return listener_; }
  Socket take_listener() { return std::move(listener_); }

 private:
  struct Visitor {
    Socket socket;
    HostHandshake handshake;
    std::vector<std::byte> proof;  // what has arrived of it
    FrameReader frames;
    std::int64_t until_ns = 0;
  };

  // Whether the proof is complete and right; if so, sends the answer and sets up keys and TLS.
  bool is_proven(Visitor& visitor);
  // The hello, once it is complete. Throws if the visitor must be disconnected.
  std::optional<std::string> listen_to(Visitor& visitor);

  Socket listener_;
  Secrecy secrecy_;
  std::size_t most_visitors_;
  std::int64_t accept_again_ns_ = 0;  // no accept() until then: the process had no descriptor left
  std::string disagreement_;
  std::list<Visitor> visitors_;
};

// The other side: connects, authenticates and sends a hello, which may depend on the connection.
Socket enter(const Address& address, const Secrecy& secrecy,
             const std::function<std::string(const Socket& connected)>& hello, std::string_view what,
             std::int64_t deadline_ns);

}  // namespace trireme::comm
