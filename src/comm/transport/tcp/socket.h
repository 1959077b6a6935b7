// Sockets: addresses in words, listening, connecting, and moving bytes with a deadline, encrypted where both sides
// agreed on a key. All sockets are non-blocking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "comm/transport/tcp/mac.h"
#include "comm/transport/tcp/tls.h"

namespace trireme::comm {

// Owns a descriptor, the keys by which its control messages are authenticated, and its encryption if it has one.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), macs_(std::move(other.macs_)), tls_(std::move(other.tls_)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(macs_, other.macs_);
    std::swap(tls_, other.tls_);
    return *this;
  }

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

  // From here on control messages have codes under these keys. Nothing before that.
  void authenticate(const MacKeys& keys) { macs_ = std::make_unique<Macs>(keys); }
  Macs* macs() const { return macs_.get(); }

  // From here on bytes go through it, once its hands are shaken.
  void encrypt(Tls::Side side, const base::Digest& key) { tls_ = std::make_unique<Tls>(descriptor_, side, key); }
  Tls* tls() const { return tls_.get(); }

 private:
  int descriptor_ = -1;
  std::unique_ptr<Macs> macs_;
  std::unique_ptr<Tls> tls_;
};

// "host:port", "[::1]:4000", or "@name" for a socket of this host that only processes in the same network namespace
// see.
struct Address {
  std::string host;
  int port = 0;
  bool is_local() const { return host.starts_with('@'); }
  bool is_loopback() const { return host == "::1" || host == "localhost" || host.starts_with("127."); }
};
Address parse_address(std::string_view text);  // mistakes are user errors
std::string to_text(const Address& address);

// A port of 0 means any. An address in use, or one that this host does not have, is a user error.
Socket listen_on(const Address& address);
int port_of(const Socket& listener);
// One that nobody listens on here, for a rendezvous that is about to begin: outside of those that the system gives out
// by itself, which the next socket could get.
int unused_port();
// Tries again while nobody listens there yet, until the deadline. A name that does not resolve is a user error.
Socket connect_to(const Address& address, std::int64_t deadline_ns);
// The next connection that waits, or a closed socket, with the reason in errno.
Socket accept_now(const Socket& listener);
// The address by which this side reaches the other: chosen by routing.
std::string own_host(const Socket& connected);
std::string other_host(const Socket& connected);
// Whether a local socket's other side is a process of this user, or root's; that of any other socket is not known.
bool is_of_this_user(const Socket& connected);

// Waits for it to be readable or writable; false at the deadline.
bool wait_readable(const Socket& socket, std::int64_t deadline_ns);
bool wait_writable(const Socket& socket, std::int64_t deadline_ns);
// The handshake of an encryption to its end; a GoneError when it fails or the deadline passes.
void shake_hands(const Socket& socket, std::int64_t deadline_ns);
// All of it; a GoneError when the other side closes or the deadline passes.
void send_all(const Socket& socket, std::span<const std::byte> bytes, std::int64_t deadline_ns);
void receive_all(const Socket& socket, std::span<std::byte> bytes, std::int64_t deadline_ns);
// What the connection takes now; a GoneError when it is closed. What was not taken comes next, unchanged.
std::size_t send_some(const Socket& socket, std::span<const std::byte> bytes);
// What is there now, at most bytes.size() > 0; a GoneError at the end. Who got all it asked for asks again before it
// waits: what was decrypted is not seen by poll().
std::size_t receive_some(const Socket& socket, std::span<std::byte> bytes);

// Descriptors, over a local socket.
void send_descriptors(const Socket& socket, std::span<const int> descriptors, std::int64_t deadline_ns);
void receive_descriptors(const Socket& socket, std::span<Socket> descriptors, std::int64_t deadline_ns);

inline constexpr std::size_t kMostDescriptors = 200;  // in one call of the above

}  // namespace trireme::comm
