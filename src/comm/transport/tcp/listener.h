// Listener: where others connect. Whoever proves to know the token and sends one frame (who it is and what it wants) is
// let in; all else has no effect: strangers are closed after a few seconds or at their first wrong byte, and only so
// many may stand there at a time that the process keeps the descriptors it needs: those who come then wait outside
// until the first has had time enough. At a local listener, processes of other users (but root) are closed at once. One
// that knows the token but was started with another setting of TLS is noted. Never waits. One thread.
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
  std::string hello;  // its frame
};

class Listener {
 public:
  // Of a rank in a group of `world`.
  Listener(Socket listener, Secrecy secrecy, int world = 1);

  // What to poll for; then accept_authenticated() does whatever is possible now.
  void add_polls(std::vector<pollfd>& polls) const;
  std::vector<Guest> accept_authenticated();

  // Whether those outside wait; there is nothing to poll for that.
  bool is_crowded() const;
  // The sentence about a rank of this job that could not come in, or nothing.
  const std::string& disagreement() const { return disagreement_; }

  const Socket& listener() const { return listener_; }
  Socket take_listener() { return std::move(listener_); }

 private:
  struct Visitor {
    Socket socket;
    HostHandshake handshake;
    std::vector<std::byte> proof;  // what has come of it
    FrameReader frames;
    std::int64_t until_ns = 0;
  };

  // Whether the proof is there, and what follows from it.
  bool is_proven(Visitor& visitor);
  // The hello, once it is there; throws when the visitor is to be sent away.
  std::optional<std::string> listen_to(Visitor& visitor);

  Socket listener_;
  Secrecy secrecy_;
  std::size_t most_visitors_;
  std::int64_t full_until_ns_ = 0;  // the process had no descriptor left
  std::string disagreement_;
  std::list<Visitor> visitors_;
};

// The other side: connects, greets and says who it is, which may depend on how it got there.
Socket enter(const Address& address, const Secrecy& secrecy,
             const std::function<std::string(const Socket& connected)>& hello, std::string_view what,
             std::int64_t deadline_ns);

}  // namespace trireme::comm
