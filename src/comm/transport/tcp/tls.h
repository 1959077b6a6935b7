// Tls: encryption of one connection whose two sides know a key: TLS 1.3 with that key in the place of certificates and
// a Diffie-Hellman exchange, so that what was recorded stays unreadable for whoever learns the job's token later. Never
// waits; a connection that ended, or whose bytes were changed on the way, is told by a GoneError. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/hash.h"

namespace trireme::comm {

struct TlsSession;

class Tls {
 public:
  enum class Side : std::uint8_t { host, guest };
  static constexpr std::uint64_t kRecordsOfAKey = std::uint64_t{1} << 22;  // of 2^24.5 that AES-GCM is good for

  // The descriptor stays the caller's, and non-blocking.
  Tls(int descriptor, Side side, const base::Digest& key, std::uint64_t records_of_a_key = kRecordsOfAKey);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // Goes on with the handshake; whether it is done. Until then, which way to wait.
  bool shake_hands();
  bool wants_to_write() const;

  // What the connection takes now. What it does not take must be offered again as it was: its beginning may be on its
  // way.
  std::size_t send(std::span<const std::byte> bytes);
  // What is there now. Fewer bytes than fit mean that nothing is left here that poll() would not show.
  std::size_t receive(std::span<std::byte> bytes);

 private:
  std::unique_ptr<TlsSession> session_;
};

}  // namespace trireme::comm
