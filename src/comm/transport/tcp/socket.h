// Socket and Address: listening, connecting and moving bytes with a deadline.
// One sending and one receiving thread per socket at a time.
// All sockets are non-blocking. Bytes go over TLS if both sides agreed on a key.
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

// Owns a descriptor, the keys that authenticate its control messages, and its TLS session, if any.
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

  // From now on, control messages carry codes under these keys.
  void authenticate(const MacKeys& keys) { macs_ = std::make_unique<Macs>(keys); }
  Macs* macs() const { return macs_.get(); }

  // From now on, bytes go through TLS; shake_hands() first.
  void encrypt(Tls::Side side, const base::Digest& key) { tls_ = std::make_unique<Tls>(descriptor_, side, key); }
  Tls* tls() const { return tls_.get(); }

 private:
  int descriptor_ = -1;
  std::unique_ptr<Macs> macs_;
  std::unique_ptr<Tls> tls_;
};

// "host:port", "[::1]:4000", or "@name" for a socket of this host that only processes in the same network namespace can
// reach.
struct Address {
  std::string host;
  int port = 0;
  bool is_local() const { return host.starts_with('@'); }
  bool is_loopback() const { return host == "::1" || host == "localhost" || host.starts_with("127."); }
};
Address parse_address(std::string_view text);  // mistakes are user errors
std::string to_text(const Address& address);

// Port 0 means any. An address that is in use, or that this host does not have, is a user error.
Socket listen_on(const Address& address);
int port_of(const Socket& listener);
// An unused port for a rendezvous that is about to begin. It is outside the range of automatically assigned ports, so
// no other socket gets it meanwhile by chance.
int unused_port();
// Retries until the deadline while nobody listens there. A name that does not resolve is a user error.
Socket connect_to(const Address& address, std::int64_t deadline_ns);
// The next pending connection, or a closed socket with the reason in errno.
Socket accept_now(const Socket& listener);
// The addresses of this side and of the other side; routing chose this side's.
std::string own_host(const Socket& connected);
std::string other_host(const Socket& connected);
// Whether the peer of a local socket is a process of this user or root. True for any other socket, where it is unknown.
bool is_of_this_user(const Socket& connected);

// Waits until the socket is readable or writable; false at the deadline.
bool wait_readable(const Socket& socket, std::int64_t deadline_ns);
bool wait_writable(const Socket& socket, std::int64_t deadline_ns);
// Completes the TLS handshake; a GoneError if it fails or the deadline passes.
void shake_hands(const Socket& socket, std::int64_t deadline_ns);
// Sends or receives all bytes; a GoneError if the other side closes or the deadline passes.
void send_all(const Socket& socket, std::span<const std::byte> bytes, std::int64_t deadline_ns);
void receive_all(const Socket& socket, std::span<std::byte> bytes, std::int64_t deadline_ns);
// Sends what the connection takes now; a GoneError if it is closed. The next call must offer the remaining bytes
// unchanged.
std::size_t send_some(const Socket& socket, std::span<const std::byte> bytes);
// Receives what is there, at most bytes.size() > 0; a GoneError at the end. A caller that got all it asked for must ask
// again before it waits, because poll() does not see decrypted bytes.
std::size_t receive_some(const Socket& socket, std::span<std::byte> bytes);

// Passes descriptors over a local socket.
void send_descriptors(const Socket& socket, std::span<const int> descriptors, std::int64_t deadline_ns);
void receive_descriptors(const Socket& socket, std::span<Socket> descriptors, std::int64_t deadline_ns);

inline constexpr std::size_t kMostDescriptors = 200;  // in one message

// The buffer of a link over a socket, whose bytes are combined from there: they stay in the L2 cache until then.
inline constexpr std::size_t kLinkBuffer = std::size_t{128} << 10;
// Bytes such a link reads ahead, so that a short message takes one system call.
inline constexpr std::size_t kLinkReadAhead = std::size_t{16} << 10;

}  // namespace trireme::comm
