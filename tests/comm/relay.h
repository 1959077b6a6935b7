// Relay: stands between two sides of connections, looks at every byte, and changes one, or adds some, if it is told to.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/system/clock.h"
#include "comm/transport/link/link.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

class Relay {
 public:
  // Flips a bit of the byte at `spoilt` of what guests send, counted over all connections.
  explicit Relay(Address to, std::size_t spoilt = std::string::npos, const Address& at = {"127.0.0.1", 0})
      : to_(std::move(to)), spoilt_(spoilt), listener_(listen_on(at)), thread_([this] { run(); }) {}
  ~Relay() {
    stop_ = true;
    thread_.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  Address address() const { return {"127.0.0.1", port_of(listener_)}; }
  // All that went by, either way.
  std::string seen() {
    const std::lock_guard lock(mutex_);
    return there_ + back_;
  }
  std::string seen_of_guests() {
    const std::lock_guard lock(mutex_);
    return there_;
  }
  std::string seen_of_hosts() {
    const std::lock_guard lock(mutex_);
    return back_;
  }
  // Sends bytes of its own to all guests, or to all hosts, as if the other side had; returns when they are sent.
  void forge_to_guests(const std::string& bytes) { forge(bytes, &Connection::guest); }
  void forge_to_hosts(const std::string& bytes) { forge(bytes, &Connection::host); }

 private:
  struct Connection {
    Socket guest, host;
  };

  void forge(const std::string& bytes, Socket Connection::*to) {
    const std::lock_guard lock(connections_mutex_);
    for (const Connection& one : connections_) send_all(one.*to, std::as_bytes(std::span(bytes)), base::in_seconds(10));
  }

  void run() {
    while (!stop_) {
      std::vector<pollfd> polls{{listener_.descriptor(), POLLIN, 0}};
      for (const Connection& one : connections_) {
        polls.push_back({one.guest.descriptor(), POLLIN, 0});
        polls.push_back({one.host.descriptor(), POLLIN, 0});
      }
      poll(polls.data(), polls.size(), 10);
      const std::lock_guard lock(connections_mutex_);
      if (Socket guest = accept_now(listener_); guest.is_open())
        connections_.push_back({std::move(guest), connect_to(to_, base::in_seconds(10))});
      connections_.remove_if([&](const Connection& one) {
        try {
          pass_on(one.guest, one.host, there_);
          pass_on(one.host, one.guest, back_);
          return false;
        } catch (const GoneError&) {
          return true;
        }
      });
    }
  }

  void pass_on(const Socket& from, const Socket& to, std::string& seen) {
    std::array<std::byte, 65536> bytes;
    const std::size_t count = receive_some(from, bytes);
    {
      const std::lock_guard lock(mutex_);
      if (&seen == &there_ && spoilt_ >= seen.size() && spoilt_ < seen.size() + count)
        bytes[spoilt_ - seen.size()] ^= std::byte{1};
      seen.append(reinterpret_cast<const char*>(bytes.data()), count);
    }
    send_all(to, std::span(bytes).first(count), base::in_seconds(10));
  }

  Address to_;
  std::size_t spoilt_;
  Socket listener_;
  std::mutex mutex_;
  std::string there_, back_;
  std::mutex connections_mutex_;  // held while bytes are passed on
  std::list<Connection> connections_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trireme::comm
