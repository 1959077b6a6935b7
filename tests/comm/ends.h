// The two ends of one connection through a listener, with a relay between them.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <string>
#include <thread>
#include <vector>

#include "base/system/clock.h"
#include "comm/relay.h"
#include "comm/transport/tcp/listener.h"

namespace trireme::comm {

inline const std::string kHello = "a hello that everybody may look for";

inline std::int64_t soon() { return base::in_seconds(10); }

// The two ends of one connection: through a listener, and a relay where there is one.
struct Ends {
  Socket host, guest;
};
inline Ends connect(Listener& listener, const Secrecy& secrecy, const Address& by) {
  Ends ends;
  std::thread guest([&] {
    try {
      ends.guest = enter(
          by, secrecy, [](const Socket&) { return kHello; }, "the listener", soon());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  });
  for (const std::int64_t deadline = soon(); !ends.host.is_open() && base::now_ns() < deadline;) {
    for (Guest& one : listener.accept_authenticated()) {
      EXPECT_EQ(one.hello, kHello);
      ends.host = std::move(one.socket);
    }
    std::vector<pollfd> polls;
    listener.add_polls(polls);
    poll(polls.data(), polls.size(), 10);
  }
  guest.join();
  return ends;
}

struct Fixture {
  explicit Fixture(const Secrecy& secrecy, std::size_t spoilt = std::string::npos)
      : listener(listen_on({"127.0.0.1", 0}), secrecy),
        relay({"127.0.0.1", port_of(listener.listener())}, spoilt),
        ends(connect(listener, secrecy, relay.address())) {}
  Listener listener;
  Relay relay;
  Ends ends;
};

}  // namespace trireme::comm
